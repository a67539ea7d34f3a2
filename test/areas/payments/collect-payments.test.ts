import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { json } from '../../../src/platform/db/values.ts';
import { newId } from '../../../src/platform/ids.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Automatic payments at a sandbox connection: payments.md#payment-methods, payments.md#automatic-payment,
// payments.md#payment-url, payment-requests.md#payment-requests, payments.md#disputes,
// provider-connections.md#sandbox-provider.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  story = await openStory(service, '2024-05-01T10:00:00Z');
  await ok(
    story.client.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'test', name: 'Test' } }),
  );
  await story.customer({
    email: 'billing@acme.test',
    billing_configuration: { payment_provider: 'stripe', sync_with_provider: true },
  });
  await ok(
    story.client.post('/add_ons', {
      add_on: { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'USD' },
    }),
  );
});

const card = async (number: string) =>
  (
    await ok(
      story.client.post('/customers/acme/payment_methods', {
        payment_method: number.startsWith('DE') ? { iban: number } : { card_number: number },
      }),
    )
  ).payment_method;

const invoice = async (fields: object = {}): Promise<Invoice> =>
  (
    await ok(
      story.client.post('/invoices', {
        invoice: { external_customer_id: 'acme', currency: 'USD', fees: [{ add_on_code: 'setup', ...fields }] },
      }),
    )
  ).invoice;
const read = async (made: Invoice): Promise<Invoice> =>
  (await ok(story.client.get(`/invoices/${made.svc_id}`))).invoice;
const payments = async (made: Invoice): Promise<Invoice[]> =>
  (await ok(story.client.get(`/payments?invoice_id=${made.svc_id}`))).payments;
const payment = (made: Invoice, status: string) =>
  until(async () => (await payments(made)).find((each) => each.payment_status === status));
const entries = (rule: string) => service.sql`
  select entry.account_code as account, entry.side, entry.amount_cents as amount
  from ledger_entries entry join ledger_transactions booked on booked.id = entry.transaction_id
  where entry.organization_id = ${story.organizationId} and booked.rule = ${rule} order by entry.position`;

test('a subscription is paid by its own payment method, else by the default one, and by none if it is manual', async () => {
  const own = await card('4242424242424242');
  const usual = await card('5555555555554444');
  await ok(story.client.put(`/customers/acme/payment_methods/${usual.svc_id}/set_as_default`));
  await story.plan({ amount_cents: 1000, pay_in_advance: true });
  const paidBy = async (external_id: string, payment_method: object): Promise<unknown> => {
    const made = await story.subscribe({ external_id, payment_method });
    expect(made.status).toBe(200);
    return made.body.subscription.payment_method;
  };
  const method = { payment_method_type: 'provider', payment_method_id: own.svc_id };
  expect(await paidBy('s1', method)).toEqual(method);
  const [first] = await story.invoices(1);
  expect((await payment(first, 'succeeded')).payment_method_id).toBe(own.svc_id);

  await ok(story.client.delete(`/customers/acme/payment_methods/${own.svc_id}`));
  await story.advanceTo('2024-06-01T10:00:00Z');
  const second = (await story.invoices(2)).find((each) => each.svc_id !== first.svc_id);
  expect((await payment(second, 'succeeded')).payment_method_id).toBe(usual.svc_id);

  await ok(
    story.client.put('/subscriptions/s1', { subscription: { payment_method: { payment_method_type: 'manual' } } }),
  );
  await story.advanceTo('2024-07-01T10:00:00Z');
  const known = [first.svc_id, second.svc_id];
  const third = (await story.invoices(3)).find((each) => !known.includes(each.svc_id));
  expect(await payments(third)).toEqual([]);

  for (const payment_method of [
    { payment_method_type: 'manual', payment_method_id: usual.svc_id },
    { payment_method_type: 'provider', payment_method_id: own.svc_id },
    { payment_method_type: 'provider', payment_method_id: 'x' },
  ]) {
    const refused = await story.client.put('/subscriptions/s1', { subscription: { payment_method } });
    expect(refused.body.error_details).toEqual({ payment_method: ['invalid_payment_method'] });
  }
});

describe('cards of the sandbox', () => {
  test('a card that succeeds pays at once, with a receipt and its booking (PP1)', async () => {
    const method = await card('4242 4242 4242 4242');
    expect(method).toMatchObject({ is_default: true, payment_provider_type: 'stripe', payment_provider_code: 'test' });
    const made = await invoice();
    expect(await payment(made, 'succeeded')).toMatchObject({
      type: 'provider',
      status: 'succeeded',
      amount_cents: 1200,
      payment_provider_type: 'stripe',
      payment_method_id: method.svc_id,
      invoice_ids: [made.svc_id],
    });
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
    expect((await ok(story.client.get('/payment_receipts'))).meta.total_count).toBe(1);
    expect(await entries('payment_succeeded')).toEqual([
      { account: 'cash', side: 'debit', amount: 1200 },
      { account: 'receivable', side: 'credit', amount: 1200 },
    ]);
  });

  test('a refused card fails payment and invoice, and a retry with another card pays (PP2, golden case 79)', async () => {
    await card('4000000000009995');
    const made = await invoice();
    await payment(made, 'failed');
    expect(await read(made)).toMatchObject({ payment_status: 'failed', total_due_amount_cents: 1200 });
    await card('5555555555554444');
    await ok(story.client.post(`/invoices/${made.svc_id}/retry_payment`));
    await payment(made, 'succeeded');
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded' });
    const late = await story.client.post(`/invoices/${made.svc_id}/retry_payment`);
    expect(late.body.code).toBe('invalid_status');
  });

  test('a card that requires confirmation waits for its customer and then succeeds (PP3, golden case 80)', async () => {
    await card('4000000000003220');
    const made = await invoice();
    const waiting = await payment(made, 'processing');
    expect(waiting).toMatchObject({ status: 'requires_action', next_action: { type: 'sandbox_confirm' } });
    expect((await read(made)).payment_status).toBe('pending');
    const retried = await story.client.post(`/invoices/${made.svc_id}/retry_payment`);
    expect(retried.body.code).toBe('payment_processor_is_currently_handling_payment');
    await ok(story.client.post(`/sandbox/payments/${waiting.svc_id}/confirm`, { outcome: 'succeeded' }));
    await payment(made, 'succeeded');
    expect((await read(made)).payment_status).toBe('succeeded');
  });

  test('a card that nobody confirms within three days is charged no more', async () => {
    await card('4000000000003220');
    const [made, confirmed] = [await invoice(), await invoice()];
    const waiting = await payment(made, 'processing');
    const { svc_id: confirmedId } = await payment(confirmed, 'processing');
    await ok(story.client.post(`/sandbox/payments/${confirmedId}/confirm`, { outcome: 'succeeded' }));
    await payment(confirmed, 'succeeded');
    await story.advanceTo('2024-05-04T09:59:00Z');
    expect((await payment(made, 'processing')).svc_id).toBe(waiting.svc_id);
    await story.advanceTo('2024-05-04T10:01:00Z');
    const provider_error = { error_code: 'customer_action_expired' };
    expect(await payment(made, 'failed')).toMatchObject({ status: 'canceled', provider_error, next_action: {} });
    expect(await read(made)).toMatchObject({ payment_status: 'failed', total_due_amount_cents: 1200 });
    expect((await read(confirmed)).payment_status).toBe('succeeded');
    const { inbound_events: told } = await ok(story.client.get('/inbound_events?types[]=payment_intent.canceled'));
    expect(told).toHaveLength(1);
    const late = await story.client.post(`/sandbox/payments/${waiting.svc_id}/confirm`, { outcome: 'succeeded' });
    expect(late.body).toMatchObject({ status: 405, code: 'invalid_status' });
  });

  test('provider events are listed, and one that failed for good can be handled again', async () => {
    await card('4000000000003220');
    const made = await invoice();
    const waiting = await payment(made, 'processing');
    await ok(story.client.post(`/sandbox/payments/${waiting.svc_id}/confirm`, { outcome: 'succeeded' }));
    await payment(made, 'succeeded');
    const list = async (query = '') => (await story.client.get(`/inbound_events${query}`)).body.inbound_events;
    const told = await until(async () => (await list('?statuses[]=succeeded&types[]=payment_intent.succeeded'))[0]);
    expect(told).toMatchObject({ status: 'succeeded', attempts: 1, error: null, payment_provider_type: 'sandbox' });
    expect(await list('?payment_provider_code=other')).toEqual([]);
    expect(await list('?statuses[]=failed')).toEqual([]);
    const path = `/inbound_events/${told.svc_id}`;
    expect((await story.client.get(path)).body.inbound_event.payload).toMatchObject({
      type: 'payment_intent.succeeded',
    });
    expect((await story.client.post(`${path}/retry`)).body).toMatchObject({ status: 405, code: 'invalid_status' });
    expect((await story.client.get('/inbound_events/x')).body).toMatchObject({
      status: 404,
      resource: 'inbound_event',
    });

    await service.sql`update inbound_events set status = 'pending', attempts = 0 where id = ${told.svc_id}`;
    await service.sql`
      insert into after_steps (id, organization_id, job, payload, attempts, error, failed_at, created_at, enqueued_at)
      values (${newId()}, ${story.organizationId}, 'handle-provider-event', ${json({ inbound_event_id: told.svc_id })},
        5,
        'out of luck', now(), now(), now())`;
    expect((await list('?statuses[]=failed'))[0]).toMatchObject({
      svc_id: told.svc_id,
      attempts: 5,
      error: 'out of luck',
    });
    const again = await Promise.all([1, 2, 3].map(() => story.client.post(`${path}/retry`)));
    expect(again.every(({ status }) => status === 200 || status === 405)).toBe(true);
    await until(async () =>
      (await list('?statuses[]=succeeded')).some(({ svc_id }: Invoice) => svc_id === told.svc_id),
    );
    expect(
      await service.sql`select from after_steps where payload ->> 'inbound_event_id' = ${told.svc_id}`,
    ).toHaveLength(0);
  });

  test('a slow card succeeds after 5 minutes of the clock (PP4)', async () => {
    await card('4000000000000077');
    const made = await invoice();
    await payment(made, 'processing');
    await story.advanceTo('2024-05-01T10:04:00Z');
    expect((await read(made)).payment_status).toBe('pending');
    await story.advanceTo('2024-05-01T10:05:00Z');
    expect((await read(made)).payment_status).toBe('succeeded');
  });

  test('a disputed card is lost after a day (PP7, L18)', async () => {
    await card('4000000000000259');
    const made = await invoice();
    await payment(made, 'succeeded');
    await story.advanceTo('2024-05-02T11:00:00Z');
    expect(await read(made)).toMatchObject({
      payment_status: 'succeeded',
      payment_dispute_lost_at: '2024-05-02T10:00:00Z',
    });
    expect(await entries('dispute_lost')).toEqual([
      { account: 'dispute_losses', side: 'debit', amount: 1200 },
      { account: 'cash', side: 'credit', amount: 1200 },
    ]);
  });

  test('a returned debit makes the invoice due again (LG18)', async () => {
    await card('DE35 3704 0044 0532 0130 02');
    const made = await invoice();
    await payment(made, 'processing');
    await story.advanceTo('2024-05-04T11:00:00Z');
    expect((await read(made)).payment_status).toBe('succeeded');
    await story.advanceTo('2024-05-06T11:00:00Z');
    expect(await read(made)).toMatchObject({ payment_status: 'failed', total_due_amount_cents: 1200 });
    expect(await entries('payment_reversed')).toEqual([
      { account: 'cash', side: 'credit', amount: 1200 },
      { account: 'receivable', side: 'debit', amount: 1200 },
    ]);
  });

  test('a charge over a broken connection is retried and made once', async () => {
    await card('4000000000006975');
    const made = await invoice();
    await until(async () => (await payments(made)).length === 1 || undefined);
    await story.advanceTo('2024-05-01T11:00:00Z');
    expect((await read(made)).payment_status).toBe('succeeded');
    expect(await payments(made)).toHaveLength(1);
  });

  test('an amount that is too small stays pending with its reason and may be paid otherwise', async () => {
    await card('4000000000000002');
    const made = await invoice({ unit_amount_cents: 24 });
    await until(async () => (await payments(made))[0]);
    await story.advanceTo('2024-05-01T10:01:00Z');
    const provider_error = {
      error_code: 'amount_too_small',
      message: 'The amount is below the minimum of the provider.',
    };
    expect((await payments(made))[0]).toMatchObject({ payment_status: 'pending', provider_error });
    expect((await read(made)).payment_status).toBe('pending');
    const logs = async () =>
      (await ok(story.client.get(`/activity_logs?resource_ids[]=${made.svc_id}`))).activity_logs.filter(
        (log: { activity_type: string }) => log.activity_type === 'invoice.payment_failure',
      );
    expect(await logs()).toHaveLength(1);
    // Rule: payments.md#automatic-payment: no failure webhook for an amount that is too small.
    const told = await service.sql<{ webhook_type: string }[]>`
      select distinct webhook_type from webhook_events
      where organization_id = ${story.organizationId} and object_id = ${made.svc_id}`;
    expect(told.map(({ webhook_type }) => webhook_type)).toEqual(['invoice.one_off_created']);
    await ok(story.client.post(`/invoices/${made.svc_id}/retry_payment`));
    await until(async () => ((await logs()).length === 2 ? true : undefined));
    // The retry is a payment of its own, with a key that the provider does not know.
    expect((await payments(made)).map(({ payment_status }) => payment_status).sort()).toEqual(['failed', 'pending']);

    await ok(
      story.client.post('/payments', { payment: { invoice_id: made.svc_id, amount_cents: 24, reference: 'cash' } }),
    );
    expect((await read(made)).payment_status).toBe('succeeded');
    const states = (await payments(made)).map(({ type, payment_status }) => [type, payment_status]);
    expect(states.sort()).toEqual([
      ['manual', 'succeeded'],
      ['provider', 'failed'],
      ['provider', 'failed'],
    ]);
  });
});

test('where customers pay on hosted pages, the first attempt waits 10 minutes for them and a retry does not wait', async () => {
  await ok(story.client.put('/organizations/settings', { settings: { hosted_page_wait_minutes: 10 } }));
  await card('4000000000009995');
  const made = await invoice();
  await story.advanceTo('2024-05-01T10:09:00Z');
  expect(await payments(made)).toEqual([]);
  await story.advanceTo('2024-05-01T10:10:00Z');
  await payment(made, 'failed');
  await card('4242424242424242');
  await ok(story.client.post(`/invoices/${made.svc_id}/retry_payment`));
  await payment(made, 'succeeded');
});

test('two identical retries start one charge', async () => {
  const made = await invoice();
  await card('4242424242424242');
  await Promise.all(Array.from({ length: 20 }, () => story.client.post(`/invoices/${made.svc_id}/retry_payment`)));
  await payment(made, 'succeeded');
  expect(await payments(made)).toHaveLength(1);
  expect((await read(made)).total_paid_amount_cents).toBe(1200);
});

test('a payment page stays the same for a day, accepts the payment and is then closed (golden case 82)', async () => {
  const made = await invoice();
  const url = async () =>
    (await ok(story.client.post(`/invoices/${made.svc_id}/payment_url`))).invoice_payment_details.payment_url;
  const first = await url();
  expect(await url()).toBe(first);
  const path = first.slice(first.indexOf('/sandbox'));
  const wrong = await story.client.post(path, { checkout: { card_number: '1' } });
  expect(wrong.body.error_details).toEqual({ card_number: ['value_is_invalid'] });
  await ok(story.client.post(path, { checkout: { card_number: '4242424242424242' } }));
  await payment(made, 'succeeded');
  expect((await story.client.post(path, { checkout: { card_number: '4242424242424242' } })).status).toBe(404);
  const late = await story.client.post(`/invoices/${made.svc_id}/payment_url`);
  expect(late.body.error_details).toEqual({ base: ['invalid_invoice_status_or_payment_status'] });
});

test('one payment method is the default, the newest unless chosen otherwise, and unlinking discards all of them', async () => {
  const [a, b] = [await card('4242424242424242'), await card('5555555555554444')];
  const list = async () => (await ok(story.client.get('/customers/acme/payment_methods'))).payment_methods;
  expect((await list()).map((each: Invoice) => [each.svc_id, each.is_default])).toEqual([
    [b.svc_id, true],
    [a.svc_id, false],
  ]);
  await ok(story.client.put(`/customers/acme/payment_methods/${a.svc_id}/set_as_default`));
  await ok(story.client.delete(`/customers/acme/payment_methods/${b.svc_id}`));
  expect((await list()).map((each: Invoice) => [each.svc_id, each.is_default])).toEqual([[a.svc_id, true]]);
  expect((await story.client.delete(`/customers/acme/payment_methods/${b.svc_id}`)).body.resource).toBe(
    'payment_method',
  );
  await story.customer({ billing_configuration: { payment_provider: null } });
  expect(await list()).toEqual([]);
});

test('a payment request is charged as a whole and pays its invoices (golden case 84, LG11)', async () => {
  const [a, b] = [await invoice({ unit_amount_cents: 14900 }), await invoice({ unit_amount_cents: 600 })];
  await story.advanceTo('2024-05-03T00:30:00Z');
  await card('4242424242424242');
  const { payment_request: request } = await ok(
    story.client.post('/payment_requests', {
      payment_request: { external_customer_id: 'acme', svc_invoice_ids: [a.svc_id, b.svc_id] },
    }),
  );
  expect(request).toMatchObject({ amount_cents: 15500, email: 'billing@acme.test', payment_status: 'pending' });
  await until(async () => {
    const { payment_request: now } = await ok(story.client.get(`/payment_requests/${request.svc_id}`));
    return now.payment_status === 'succeeded' ? now : undefined;
  });
  for (const made of [a, b])
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', payment_overdue: false });
  const sorted = [...(await entries('payment_succeeded'))].sort((x, y) => y.amount - x.amount);
  expect(sorted).toEqual([
    { account: 'cash', side: 'debit', amount: 15500 },
    { account: 'receivable', side: 'credit', amount: 14900 },
    { account: 'receivable', side: 'credit', amount: 600 },
  ]);
  expect(
    (await ok(story.client.get('/customers/acme/payment_requests?payment_status=succeeded'))).meta.total_count,
  ).toBe(1);
});

test('a refused charge of a payment request mails a link', async () => {
  const made = await invoice();
  await story.advanceTo('2024-05-03T00:30:00Z');
  await card('4000000000000002');
  await ok(
    story.client.post('/payment_requests', {
      payment_request: { external_customer_id: 'acme', svc_invoice_ids: [made.svc_id] },
    }),
  );
  const mail = await until(async () => (await ok(story.client.get('/sandbox/mails'))).mails[0]);
  expect(mail.to).toEqual(['billing@acme.test']);
  expect(mail.text).toMatch(/\/pay\/[\w-]{48}\n/);
  expect((await read(made)).payment_status).toBe('failed');
  await ok(story.client.delete('/sandbox/mails'));
  expect((await ok(story.client.get('/sandbox/mails'))).mails).toEqual([]);
});

test('a payment request that is too small mails a link and says why nothing was charged', async () => {
  await card('4242424242424242');
  const made = await invoice({ unit_amount_cents: 24 });
  await until(async () => (await payments(made))[0]?.provider_error ?? undefined);
  await story.advanceTo('2024-05-03T00:30:00Z');
  const { payment_request: request } = await ok(
    story.client.post('/payment_requests', {
      payment_request: { external_customer_id: 'acme', svc_invoice_ids: [made.svc_id] },
    }),
  );
  const mail = await until(async () => (await ok(story.client.get('/sandbox/mails'))).mails[0]);
  expect(mail.text).toMatch(/\/pay\/[\w-]{48}\n/);
  const charge = (await payments(made)).find(({ svc_payable_id }) => svc_payable_id === request.svc_id);
  expect(charge).toMatchObject({ payment_status: 'pending', provider_error: { error_code: 'amount_too_small' } });
});

test('a customer may use the sandbox provider by its own name and is shown under the one it emulates', async () => {
  const customer = {
    external_id: 'own',
    billing_configuration: { payment_provider: 'sandbox', sync_with_provider: true },
  };
  const options = {
    beyondContract: 'provider-connections.md#sandbox-provider: input payment_provider "sandbox" is accepted',
  };
  const { customer: made } = await ok(story.client.post('/customers', { customer }, options));
  expect(made.billing_configuration).toMatchObject({ payment_provider: 'stripe', payment_provider_code: 'test' });
});

test('connections answer with the wording of the routes', async () => {
  const post = (fields: object) =>
    story.client.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'b', name: 'B', ...fields } });
  expect((await post({ code: 'test' })).body.error_details).toEqual({ code: ['value_already_exist'] });
  expect((await post({ type: 'cashfree' })).body.error_details).toEqual({ type: ['unsupported_value'] });
  expect((await post({ type: 'stripe' })).body.error_details).toEqual({ secret_key: ['value_is_mandatory'] });
  expect((await post({ type: 'cash' })).body.error_details).toEqual({ type: ['value_is_invalid'] });
  const secret = 'whsec_very_secret_1234';
  const { payment_provider: made, ...rest } = await ok(post({ webhook_secret: secret }) as never);
  expect(rest).toEqual({});
  expect(made).toMatchObject({
    status: 'connected',
    emulates: 'stripe',
    webhook_secret_last4: '1234',
    customers_count: 0,
  });
  const everything = await service.sql`select row_to_json(p)::text as text from payment_providers p`;
  expect(JSON.stringify(everything)).not.toContain(secret);
  await ok(story.client.put('/payment_providers/test', { payment_provider: { code: 'renamed' } }));
  const customer = (await ok(story.client.get('/customers/acme'))).customer;
  expect(customer.billing_configuration).toMatchObject({
    payment_provider: 'stripe',
    payment_provider_code: 'renamed',
  });
  await ok(story.client.delete('/payment_providers/renamed'));
  const unlinked = (await ok(story.client.get('/customers/acme'))).customer;
  expect(unlinked.billing_configuration).not.toHaveProperty('payment_provider');
});

test('an invoice names the payment method that pays it, or none', async () => {
  const [good, bad] = [await card('4242424242424242'), await card('4000000000000002')];
  expect(bad.is_default).toBe(true);
  const make = (fields: object) =>
    story.client.post('/invoices', {
      invoice: { external_customer_id: 'acme', currency: 'USD', fees: [{ add_on_code: 'setup' }], ...fields },
    });
  const { invoice: named } = await ok(make({ payment_method: { payment_method_id: good.svc_id } }));
  await payment(named, 'succeeded');
  const { invoice: byHand } = await ok(make({ payment_method: { payment_method_type: 'manual' } }));
  const { invoice: skipped } = await ok(make({ skip_psp: true }));
  await story.advanceTo('2024-05-01T11:00:00Z');
  for (const made of [byHand, skipped]) expect(await payments(made)).toEqual([]);
  const unknown = await make({ payment_method: { payment_method_id: named.svc_id } });
  expect(unknown.body.error_details).toEqual({ payment_method: ['invalid_payment_method'] });
});
