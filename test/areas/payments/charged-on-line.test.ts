import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectStripe, linkCustomer, type Organization, storeMethod, tell } from '../../support/connect-stripe.ts';
import { type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { formIn, portalPath, sendForm, visitPortal } from '../../support/portal.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Customers who store no method, at Stripe and in a sandbox: payments.md#charged-on-line.
let service: TestService;
let stripe: FakeStripe;
let client: Organization;

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

beforeAll(async () => {
  stripe = await fakeStripe();
  service = await startService({ settings: { STRIPE_API_URL: stripe.url } });
});
afterAll(async () => {
  await service.stop();
  await stripe.close();
});

beforeEach(async () => {
  client = await service.org();
  await connectStripe(service, client);
  await ok(
    client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'EUR' } }),
  );
});

/** A customer who pays by these kinds, once Stripe knows it. */
async function customer(kinds: string[], currency = 'EUR', fields: object = {}): Promise<void> {
  await linkCustomer(client, { currency, email: 'pay@acme.example', ...fields }, { provider_payment_methods: kinds });
}

const invoice = async (cents = 1200, currency = 'EUR', fields: object = {}): Promise<Loose> =>
  (
    await ok(
      client.post('/invoices', {
        invoice: {
          external_customer_id: 'acme',
          currency,
          fees: [{ add_on_code: 'setup', unit_amount_cents: cents, units: 1 }],
          ...fields,
        },
      }),
    )
  ).invoice;
const payments = async (made: Loose): Promise<Loose[]> =>
  (await ok(client.get(`/payments?invoice_id=${made.svc_id}`))).payments;
const payment = (made: Loose, matches: (each: Loose) => boolean): Promise<Loose> =>
  until(async () => (await payments(made)).find(matches), 60_000);
const waiting = (made: Loose, cents = 1200) =>
  payment(made, ({ payment_status, amount_cents }) => payment_status === 'processing' && amount_cents === cents);
const intentOf = ({ provider_payment_id }: Loose) => stripe.intents.find(({ id }) => id === provider_payment_id);
const read = async (made: Loose): Promise<Loose> => (await ok(client.get(`/invoices/${made.svc_id}`))).invoice;
const webhooks = (type: string) => service.sql<{ payload: Loose }[]>`
  select payload from webhook_events
  where organization_id = ${client.organization.organization_id} and webhook_type = ${type} order by id`;
const mails = () => service.sql<{ subject: string; body: string; html: string }[]>`
  select subject, body, html from mails where organization_id = ${client.organization.organization_id}`;
const tellOf = (type: string, object: object): Promise<number> => tell(service, stripe.event(type, object));
/** Money that came in by another way. */
const payByHand = (made: Loose, amount_cents: number) =>
  ok(client.post('/payments', { payment: { invoice_id: made.svc_id, amount_cents, reference: 'cash' } }));
async function paidPage(made: Loose): Promise<string> {
  const { payment_url } = (await ok(client.post(`/invoices/${made.svc_id}/payment_url`))).invoice_payment_details;
  return payment_url;
}

describe('a customer who pays by transfer', () => {
  test('is told the account, which the page names too, and pays in parts days later', async () => {
    await customer(['customer_balance']);
    const made = await invoice();
    const open = await waiting(made);
    expect(open).toMatchObject({ status: 'requires_action', payment_method_id: null });
    const said = open.next_action.display_bank_transfer_instructions;
    expect(said).toMatchObject({ type: 'eu_bank_transfer', amount_remaining: 1200 });
    expect(said.financial_addresses[0].iban).toMatchObject({ iban: 'DE11243460760600000000', country: 'IE' });
    expect(await webhooks('payment.requires_action')).toHaveLength(1);
    expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
    const [mail, ...others] = await until(async () => {
      const found = await mails();
      return found.length > 0 ? found : undefined;
    });
    expect(others).toEqual([]);
    expect(mail!.body).toContain('DE11243460760600000000');
    expect(mail!.body).toContain(said.reference);
    expect(mail!.html).toContain('DE11 2434 6076 0600 0000 00');

    const intent = intentOf(open);
    stripe.transfer(intent, 700);
    expect(await tellOf('payment_intent.partially_funded', intent)).toBe(200);
    const partly = await payment(
      made,
      (each) => each.next_action.display_bank_transfer_instructions?.amount_remaining === 500,
    );
    // Events are stored without numbers of accounts, so what is left was read.
    expect(partly).toMatchObject({ svc_id: open.svc_id, payment_status: 'processing' });
    expect(JSON.stringify(partly.next_action)).toContain('DE11243460760600000000');
    expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
    expect(await mails()).toHaveLength(1);
    // A part is not other money than was asked for.
    const { provider_reconciliation: run } = await ok(client.post('/provider_reconciliations', {}));
    const { counts } = await until(async () => {
      const { provider_reconciliation: now } = await ok(client.get(`/provider_reconciliations/${run.svc_id}`));
      return now.finished_at === null ? undefined : now;
    });
    expect(counts).toMatchObject({ drifts: {}, unreadable: 0 });

    stripe.transfer(intent, 500);
    expect(await tellOf('payment_intent.succeeded', intent)).toBe(200);
    expect(await payment(made, (each) => each.payment_status === 'succeeded')).toMatchObject({
      svc_id: open.svc_id,
      next_action: {},
    });
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
    expect(await tellOf('payment_intent.partially_funded', intent)).toBe(200);
    expect(stripe.intents.filter(({ metadata }) => metadata.payable_id === made.svc_id)).toHaveLength(1);
  });

  test('sees the account on the page of the pay link and in the portal', async () => {
    await customer(['customer_balance']);
    const made = await invoice();
    const open = await waiting(made);
    const { reference } = open.next_action.display_bank_transfer_instructions;
    const portal = await portalPath(client, 'acme');
    const overview = await visitPortal(service.url, portal);
    expect(overview.text).toContain(reference);
    const paying = await sendForm(service.url, portal, formIn(overview.text, `invoices/${made.svc_id}/pay`));
    const [path] = /\/pay\/[\w-]{48}/.exec(paying.text)!;
    const page = await (await request(`${service.url}${path}`)).body.text();
    expect(page).toContain('DE11 2434 6076 0600 0000 00');
    expect(page).toContain(reference);
    expect(page).toContain(`https://payments.stripe.test/bank_transfers/${open.provider_payment_id}`);
  });

  test.each([
    ['DE', 'DE'],
    ['NL', 'NL'],
    ['AT', 'IE'],
    [null, 'IE'],
  ])('gets an account in the country of a seller in %s: %s', async (country, expected) => {
    const [entity] = (await ok(client.get('/billing_entities'))).billing_entities;
    await ok(client.put(`/billing_entities/${entity.code}`, { billing_entity: { country } }));
    await customer(['customer_balance']);
    const open = await waiting(await invoice());
    expect(open.next_action.display_bank_transfer_instructions.financial_addresses[0].iban.country).toBe(expected);
  });

  test.each(['GBP', 'USD', 'JPY', 'MXN'])('is charged in %s by its own kind of transfer', async (currency) => {
    await customer(['customer_balance'], currency);
    const open = await waiting(await invoice(1200, currency));
    const kinds: Record<string, string> = { GBP: 'gb', USD: 'us', JPY: 'jp', MXN: 'mx' };
    expect(open.next_action.display_bank_transfer_instructions.type).toBe(`${kinds[currency]}_bank_transfer`);
  });

  test('is not charged in another currency, of which the provider is not even asked', async () => {
    await customer(['customer_balance'], 'CHF');
    const made = await invoice(1200, 'CHF');
    const refused = await payment(made, (each) => each.payment_status === 'failed');
    expect(refused.provider_error.error_code).toBe('currency_not_supported');
    expect(stripe.intents.filter(({ metadata }) => metadata.payable_id === made.svc_id)).toEqual([]);
    expect((await client.post(`/invoices/${made.svc_id}/payment_url`)).body).toMatchObject({
      error_details: { currency: ['unsupported_value'] },
    });
  });

  test('is asked for what is left when another payment comes in, and for nothing once all is paid', async () => {
    await customer(['customer_balance']);
    const made = await invoice();
    const first = await waiting(made);
    await payByHand(made, 500);
    const second = await waiting(made, 700);
    await until(async () => intentOf(first).status === 'canceled');
    expect((await payments(made)).find(({ svc_id }) => svc_id === first.svc_id)).toMatchObject({
      payment_status: 'failed',
      status: 'canceled',
    });
    await payByHand(made, 700);
    await until(async () => intentOf(second).status === 'canceled');
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
    expect((await payments(made)).filter(({ payment_status: status }) => status === 'processing')).toEqual([]);
  });

  test('is asked for what is left of an invoice that is charged by hand only, too', async () => {
    await customer(['customer_balance']);
    const made = await invoice(1200, 'EUR', { skip_psp: true });
    await ok(client.post(`/invoices/${made.svc_id}/retry_payment`));
    const first = await waiting(made);
    await payByHand(made, 500);
    const second = await waiting(made, 700);
    await until(async () => intentOf(first).status === 'canceled');
    expect(second).toMatchObject({ status: 'requires_action', payment_method_id: null });
    await payByHand(made, 300);
    await waiting(made, 400);
    await until(async () => intentOf(second).status === 'canceled');
    expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 800 });
  });

  test('is asked for less after a note that offsets a part, and no more after a void', async () => {
    await customer(['customer_balance']);
    const made = await invoice();
    const first = await waiting(made);
    const [fee] = (await read(made)).fees;
    await ok(
      client.post('/credit_notes', {
        credit_note: {
          invoice_id: made.svc_id,
          reason: 'other',
          credit_amount_cents: 0,
          refund_amount_cents: 0,
          offset_amount_cents: 200,
          items: [{ fee_id: fee.svc_id, amount_cents: 200 }],
        },
      }),
    );
    const second = await waiting(made, 1000);
    await until(async () => intentOf(first).status === 'canceled');
    await ok(client.post(`/invoices/${made.svc_id}/void`, {}));
    await until(async () => intentOf(second).status === 'canceled');
    expect((await payments(made)).map(({ payment_status: status }) => status)).toEqual(['failed', 'failed']);
  });

  test('is asked for overdue invoices together', async () => {
    await customer(['customer_balance']);
    const made = [await invoice(1200), await invoice(300)];
    const single = [await waiting(made[0]), await waiting(made[1], 300)];
    await service.sql`update invoices set payment_overdue = true
      where organization_id = ${client.organization.organization_id}`;
    await ok(
      client.post('/payment_requests', {
        payment_request: { external_customer_id: 'acme', svc_invoice_ids: made.map(({ svc_id }) => svc_id) },
      }),
    );
    const together = await payment(
      made[1],
      (each) => each.amount_cents === 1500 && each.payment_status === 'processing',
    );
    await until(async () => single.every((each) => intentOf(each).status === 'canceled'));
    const { reference } = together.next_action.display_bank_transfer_instructions;
    await until(async () => (await mails()).find(({ body }) => body.includes(reference)));
    await ok(client.post(`/invoices/${made[0].svc_id}/void`, {}));
    const rest = await payment(made[1], (each) => each.amount_cents === 300 && each.payable_type === 'PaymentRequest');
    await until(async () => intentOf(together).status === 'canceled');
    await until(async () => intentOf((await payments(made[1])).find(({ svc_id }) => svc_id === rest.svc_id)!));
    const last = (await payments(made[1])).find(({ svc_id }) => svc_id === rest.svc_id)!;
    stripe.transfer(intentOf(last), 300);
    expect(await tellOf('payment_intent.succeeded', intentOf(last))).toBe(200);
    await until(async () => (await read(made[1])).payment_status === 'succeeded');
  });

  test('who began a transfer on a page is not asked for another one', async () => {
    await customer(['customer_balance']);
    const made = await invoice(1200, 'EUR', { skip_psp: true });
    expect(await paidPage(made)).toContain('https://pay.test/');
    const intent = stripe.payOnPage();
    await ok(client.post(`/invoices/${made.svc_id}/retry_payment`));
    const open = await waiting(made);
    expect(open).toMatchObject({ provider_payment_id: intent.id, next_action: intent.next_action });
    stripe.transfer(intent, 1200);
    expect(await tellOf('payment_intent.succeeded', intent)).toBe(200);
    await until(async () => (await read(made)).payment_status === 'succeeded');
    expect(stripe.intents.filter(({ metadata }) => metadata.payable_id === made.svc_id)).toHaveLength(1);
  });

  const overdue = () => service.sql`update invoices set payment_overdue = true
    where organization_id = ${client.organization.organization_id}`;
  const together = (made: Loose[]) =>
    ok(
      client.post('/payment_requests', {
        payment_request: { external_customer_id: 'acme', svc_invoice_ids: made.map(({ svc_id }) => svc_id) },
      }),
    );
  const ofRequest = (made: Loose, cents: number) =>
    payment(
      made,
      (each) =>
        each.payable_type === 'PaymentRequest' && each.amount_cents === cents && each.payment_status === 'processing',
    );

  test('is asked by a second request, which replaces the first; the rest of that is asked for by itself', async () => {
    await customer(['customer_balance']);
    const [old, kept] = [await invoice(1200), await invoice(300)];
    await waiting(old);
    await waiting(kept, 300);
    await overdue();
    await together([old, kept]);
    const first = await ofRequest(old, 1500);
    const added = await invoice(500);
    const single = await waiting(added, 500);
    await overdue();
    await together([old, added]);
    const second = await ofRequest(added, 1700);
    await until(async () => [first, single].every((each) => intentOf(each).status === 'canceled'));
    const { reference } = second.next_action.display_bank_transfer_instructions;
    await until(async () => (await mails()).find(({ body }) => body.includes(reference)));
    const rest = await waiting(kept, 300);
    expect(rest).toMatchObject({ payable_type: 'Invoice' });
    expect(intentOf(rest).status).toBe('requires_action');
  });

  test('keeps the account of an invoice while another payment of the same request is under way', async () => {
    await customer(['customer_balance']);
    const [slow, other] = [await invoice(1200), await invoice(300)];
    const moving = await waiting(slow);
    const kept = await waiting(other, 300);
    // Stands for a debit, which nobody can end.
    await service.sql`update payments set is_transfer = false where id = ${moving.svc_id}`;
    await overdue();
    await together([slow, other]);
    await until(async () => {
      const [step] = await service.sql`select from after_steps where job = 'collect-payment-request'
        and organization_id = ${client.organization.organization_id} and due_at is not null`;
      return step;
    });
    expect(intentOf(kept).status).toBe('requires_action');
    expect((await waiting(other, 300)).svc_id).toBe(kept.svc_id);
  });

  test('who has stored a card since is charged by it, though a request asked for a transfer', async () => {
    await customer(['customer_balance']);
    const made = await invoice();
    await waiting(made);
    await overdue();
    await together([made]);
    const asked = await ofRequest(made, 1200);
    await ok(
      client.post('/customers', {
        customer: { external_id: 'acme', billing_configuration: { provider_payment_methods: ['card'] } },
      }),
    );
    await storeMethod({ service, stripe, client }, 'pm_ok');
    await ok(client.post(`/invoices/${made.svc_id}/retry_payment`));
    await until(async () => (await read(made)).payment_status === 'succeeded');
    await until(async () => intentOf(asked).status === 'canceled');
  });

  /** An invoice that is not charged by itself, of which its customer has begun a transfer of 12.00 on a page. */
  async function begunOnPage() {
    await customer(['customer_balance']);
    const made = await invoice(1200, 'EUR', { skip_psp: true });
    await paidPage(made);
    return { made, intent: stripe.payOnPage() };
  }
  const ofIntent = async (made: Loose, intent: Loose) =>
    (await payments(made)).find(({ provider_payment_id: id }) => id === intent.id);

  test('who began a transfer on a page need not make it once the invoice is paid otherwise', async () => {
    const { made, intent } = await begunOnPage();
    await ok(client.post(`/invoices/${made.svc_id}/retry_payment`));
    await waiting(made);
    await payByHand(made, 1200);
    await until(async () => intent.status === 'canceled');
    expect(await ofIntent(made, intent)).toMatchObject({ payment_status: 'failed', status: 'canceled' });
  });

  test.each([500, 1200])('is not told an account on a page after %i of 1200 came in otherwise', async (cents) => {
    const { made, intent } = await begunOnPage();
    await payByHand(made, cents);
    // The page is closed, and its provider then tells of the transfer.
    if (cents < 1200) await ok(client.post(`/invoices/${made.svc_id}/retry_payment`));
    await until(async () => intent.status === 'canceled');
    expect(await ofIntent(made, intent)).toMatchObject({
      payment_status: 'failed',
      status: 'canceled',
      amount_cents: 1200,
    });
    expect(await read(made)).toMatchObject({ total_paid_amount_cents: cents });
    const told = (await webhooks('payment.requires_action')).map(({ payload }) => payload.payment.amount_cents);
    expect(told).not.toContain(1200);
  });

  test('is asked at once for what was invoiced before the provider knew it', async () => {
    await ok(client.post('/customers', { customer: { external_id: 'acme', currency: 'EUR' } }));
    const made = await invoice();
    expect(await payments(made)).toEqual([]);
    await customer(['customer_balance']);
    await waiting(made);
  });
});

test('a customer in India is mailed where to confirm the payment of an invoice, once', async () => {
  await customer(['card'], 'EUR', { country: 'IN' });
  await storeMethod({ service, stripe, client }, 'pm_india');
  const made = await invoice();
  const open = await waiting(made);
  expect(open.next_action.type).toBe('redirect_to_url');
  const found = await until(async () => ((await mails()).length > 0 ? mails() : undefined));
  expect(found.map(({ subject }) => subject)).toEqual([expect.stringContaining('Please confirm your payment')]);
  // The link is stored as a mark, and made when the mail is sent.
  expect(found[0]!.body).toContain(`I${made.svc_id}`);
  stripe.set(intentOf(open), 'succeeded');
  expect(await tellOf('payment_intent.succeeded', intentOf(open))).toBe(200);
  await until(async () => (await read(made)).payment_status === 'succeeded');
  expect(await mails()).toHaveLength(1);
});

describe('a customer who pays with coins', () => {
  test('is never charged, which is announced once, and pays on a page', async () => {
    await customer(['crypto'], 'USD');
    const made = await invoice(1200, 'USD');
    const [failure] = await until(async () => {
      const found = await webhooks('invoice.payment_failure');
      return found.length > 0 ? found : undefined;
    });
    expect(JSON.stringify(failure)).toContain('customer_action_required');
    await ok(client.post(`/invoices/${made.svc_id}/retry_payment`));
    expect(await read(made)).toMatchObject({ payment_status: 'pending' });
    expect(await payments(made)).toEqual([]);
    expect(await paidPage(made)).toContain('https://pay.test/');
    expect(await webhooks('invoice.payment_failure')).toHaveLength(1);
    const intent = stripe.payOnPage();
    stripe.set(intent, 'succeeded');
    expect(await tellOf('payment_intent.succeeded', intent)).toBe(200);
    await until(async () => (await read(made)).payment_status === 'succeeded');
  });

  test('has no page in another currency than US dollars, but other kinds have', async () => {
    await customer(['crypto'], 'EUR');
    const made = await invoice();
    expect((await client.post(`/invoices/${made.svc_id}/payment_url`)).body).toMatchObject({
      error_details: { currency: ['unsupported_value'] },
    });
    await ok(
      client.post('/customers', {
        customer: { external_id: 'acme', billing_configuration: { provider_payment_methods: ['card', 'crypto'] } },
      }),
    );
    expect(await paidPage(made)).toContain('https://pay.test/');
  });

  test('stores no method', async () => {
    await customer(['crypto'], 'USD');
    expect((await client.post('/customers/acme/checkout_url')).body).toMatchObject({
      error_details: { provider_payment_methods: ['no_payment_methods_to_setup_available'] },
    });
  });
});

test('a customer of a sandbox transfers when somebody plays the transfer', async () => {
  client = await service.org({ sandbox: true });
  await ok(
    client.post('/payment_providers', {
      payment_provider: { type: 'sandbox', code: 'double', name: 'Double', emulates: 'stripe' },
    }),
  );
  await ok(
    client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'EUR' } }),
  );
  await ok(
    client.post('/customers', {
      customer: {
        external_id: 'acme',
        currency: 'EUR',
        billing_configuration: {
          payment_provider: 'stripe',
          payment_provider_code: 'double',
          sync_with_provider: true,
          provider_payment_methods: ['customer_balance'],
        },
      },
    }),
  );
  const made = await invoice();
  const open = await waiting(made);
  expect(open.next_action.display_bank_transfer_instructions.amount_remaining).toBe(1200);
  await ok(client.post(`/sandbox/payments/${open.svc_id}/confirm`, { outcome: 'succeeded' }));
  await until(async () => (await read(made)).payment_status === 'succeeded');
});
