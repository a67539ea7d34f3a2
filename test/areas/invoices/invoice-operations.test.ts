import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ClientAnswer } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// Operations on one invoice: invoice-operations.md#operations, invoice-operations.md#refresh-and-finalize,
// invoice-operations.md#void, payments.md#disputes, invoice-amounts.md#settlement.
let service: TestService;
let story: Story;

beforeAll(async () => {
  // 50 commands on one record wait for each other: a busy machine takes its time.
  service = await startService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
});

/** An in-advance plan of 1000 cents, billed on its start: a draft under a grace period. */
async function bill({ grace = 0 } = {}): Promise<Invoice> {
  await story.customer({ billing_configuration: { invoice_grace_period: grace } });
  await story.plan({ amount_cents: 1000, pay_in_advance: true });
  await story.subscribe();
  const [invoice] = await story.invoices(1);
  return invoice;
}

const put = (invoice: Invoice, action: string, body?: object) =>
  story.client.put(`/invoices/${invoice.svc_id}${action}`, body);
const post = (invoice: Invoice, action: string, body?: object) =>
  story.client.post(`/invoices/${invoice.svc_id}${action}`, body);
const update = (invoice: Invoice, fields: object) => put(invoice, '', { invoice: fields });
const read = async (invoice: Invoice): Promise<Invoice> =>
  (await story.client.get(`/invoices/${invoice.svc_id}`)).body.invoice;

const setStatus = (invoice: Invoice, status: string) =>
  service.sql`update invoices set status = ${status} where id = ${invoice.svc_id}`;

const entries = (invoice: Invoice, rule: string) => service.sql`
  select entry.account_code as account, entry.side, entry.amount_cents as amount
  from ledger_entries entry
  join ledger_transactions booked on booked.id = entry.transaction_id
  where entry.organization_id = ${story.organizationId} and booked.rule = ${rule}
    and booked.source_id = ${invoice.svc_id}
  order by entry.position`;

/** Accounts of an invoice that hold a balance. */
const balances = async (invoice: Invoice) =>
  Object.fromEntries(
    (
      await service.sql<{ account: string; balance: number }[]>`
        select account_code as account,
          sum(case side when 'debit' then amount_cents else -amount_cents end)::bigint as balance
        from ledger_entries where organization_id = ${story.organizationId} and invoice_id = ${invoice.svc_id}
        group by 1 having sum(case side when 'debit' then amount_cents else -amount_cents end) <> 0 order by 1`
    ).map(({ account, balance }) => [account, balance]),
  );

const activities = (invoice: Invoice, type: string) => service.sql<{ object_changes: object }[]>`
  select activity_object_changes as object_changes from activity_logs
  where organization_id = ${story.organizationId} and resource_id = ${invoice.svc_id} and activity_type = ${type}`;

const refused = (status: number, code: string) => (answer: ClientAnswer) => {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.text).toContain(code);
};

const PARALLEL = 50;
const atOnce = (call: () => Promise<ClientAnswer>) => Promise.all(Array.from({ length: PARALLEL }, call));
const statuses = (answers: ClientAnswer[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('refreshing and finalizing invoices', () => {
  test('a refreshed draft is computed again and stays a draft', async () => {
    const draft = await bill({ grace: 10 });
    await story.client.put('/taxes/vat', { tax: { rate: '10' } });
    await story.advanceTo('2024-03-02T00:00:00Z');
    const { body, status } = await put(draft, '/refresh');
    expect(status).toBe(200);
    expect(body.invoice).toMatchObject({
      svc_id: draft.svc_id,
      status: 'draft',
      number: draft.number,
      issuing_date: draft.issuing_date,
      payment_due_date: draft.payment_due_date,
      created_at: draft.created_at,
      total_amount_cents: 1100,
    });
    expect(body.invoice.fees).toHaveLength(1);
    expect(body.invoice.fees[0].created_at).toBe(draft.created_at);
    expect(await activities(draft, 'invoice.drafted')).toHaveLength(1);
  });

  test('finalizing an invoice dates, numbers, books and announces it; afterwards there is no such draft', async () => {
    const draft = await bill({ grace: 10 });
    await story.advanceTo('2024-03-05T12:00:00Z');
    const { body, status } = await put(draft, '/finalize');
    expect(status).toBe(200);
    expect(body.invoice).toMatchObject({ status: 'finalized', issuing_date: '2024-03-05', sequential_id: 1 });
    expect(await activities(draft, 'invoice.created')).toHaveLength(1);
    expect(await balances(draft)).toEqual({ receivable: 1200, 'revenue.subscription': -1000, tax_payable: -200 });
    refused(404, 'invoice')(await put(draft, '/finalize'));
  });

  test('refreshing a final invoice answers it unchanged', async () => {
    const invoice = await bill();
    const { body, status } = await put(invoice, '/refresh');
    expect(status).toBe(200);
    expect(body.invoice).toEqual(await read(invoice));
  });

  test('only invoices of subscriptions are refreshed and finalized', async () => {
    const draft = await bill({ grace: 10 });
    await service.sql`update invoices set invoice_type = 'one_off' where id = ${draft.svc_id}`;
    refused(403, 'feature_unavailable')(await put(draft, '/refresh'));
    refused(403, 'feature_unavailable')(await put(draft, '/finalize'));
  });

  test('a draft that waits for its taxes is not finalized', async () => {
    const draft = await bill({ grace: 10 });
    await service.sql`update invoices set tax_status = 'pending' where id = ${draft.svc_id}`;
    refused(403, 'cannot_finalize_with_pending_taxes')(await put(draft, '/finalize'));
  });

  test('a draft flagged by a change of taxes is refreshed within five minutes', async () => {
    const draft = await bill({ grace: 10 });
    await story.client.put('/taxes/vat', { tax: { rate: '10' } });
    expect((await read(draft)).total_amount_cents).toBe(1200);
    await story.advanceTo('2024-03-01T00:05:00Z');
    expect(await read(draft)).toMatchObject({ status: 'draft', total_amount_cents: 1100 });
  });

  test('50 requests at the same time finalize an invoice once, and 50 refreshes leave one set of fees', async () => {
    const draft = await bill({ grace: 10 });
    expect(statuses(await atOnce(() => put(draft, '/refresh')))).toEqual({ 200: PARALLEL });
    expect((await read(draft)).fees).toHaveLength(1);
    expect(statuses(await atOnce(() => put(draft, '/finalize')))).toEqual({ 200: 1, 404: PARALLEL - 1 });
    expect(await activities(draft, 'invoice.created')).toHaveLength(1);
    expect(await read(draft)).toMatchObject({ sequential_id: 1, total_amount_cents: 1200 });
    expect((await read(draft)).fees).toHaveLength(1);
  });
});

test('50 refreshes, finalizations and voids at the same time leave one final or voided invoice', async () => {
  const draft = await bill({ grace: 10 });
  const calls = [() => put(draft, '/refresh'), () => put(draft, '/finalize'), () => post(draft, '/void')];
  const answers = await Promise.all(Array.from({ length: 51 }, (_, index) => calls[index % 3]!()));
  for (const { status, text } of answers) expect([200, 404, 405], text).toContain(status);
  const invoice = await read(draft);
  expect(invoice).toMatchObject({ sequential_id: 1, total_amount_cents: 1200 });
  expect(invoice.fees).toHaveLength(1);
  expect(await activities(draft, 'invoice.created')).toHaveLength(1);
  const voids = await activities(draft, 'invoice.voided');
  expect(voids).toHaveLength(invoice.status === 'voided' ? 1 : 0);
  expect((await balances(draft)).receivable ?? 0).toBe(invoice.total_due_amount_cents);
});

describe('updating invoices', () => {
  test('the payment status succeeded clears overdue, pays the fees and is booked; setting it back reverses that', async () => {
    const invoice = await bill();
    await service.sql`update invoices set payment_overdue = true where id = ${invoice.svc_id}`;
    const { body } = await update(invoice, { payment_status: 'succeeded' });
    expect(body.invoice).toMatchObject({ payment_status: 'succeeded', payment_overdue: false });
    expect(body.invoice.fees[0]).toMatchObject({ payment_status: 'succeeded', succeeded_at: '2024-03-01T00:00:00Z' });
    expect(await entries(invoice, 'marked_paid')).toEqual([
      { account: 'unrecorded_receipts', side: 'debit', amount: 1200 },
      { account: 'receivable', side: 'credit', amount: 1200 },
    ]);
    const [logged] = await activities(invoice, 'invoice.payment_status_updated');
    expect(logged!.object_changes).toMatchObject({ payment_status: ['pending', 'succeeded'] });

    await update(invoice, { payment_status: 'succeeded' });
    expect(await activities(invoice, 'invoice.payment_status_updated')).toHaveLength(1);

    await update(invoice, { payment_status: 'failed' });
    expect((await balances(invoice)).receivable).toBe(1200);
    expect((await read(invoice)).fees[0]).toMatchObject({ payment_status: 'failed', succeeded_at: null });
  });

  test('an update of invoice metadata changes named entries, adds new ones and removes the rest', async () => {
    const invoice = await bill();
    const first = await update(invoice, {
      metadata: [
        { key: 'a', value: '1' },
        { key: 'b', value: '2' },
      ],
    });
    const [a] = first.body.invoice.metadata;
    expect(a).toMatchObject({ key: 'a', value: '1' });
    const second = await update(invoice, {
      metadata: [
        { id: a.svc_id, key: 'b', value: '3' },
        { key: 'c', value: '4' },
      ],
    });
    expect(second.body.invoice.metadata).toMatchObject([
      { svc_id: a.svc_id, key: 'b', value: '3' },
      { key: 'c', value: '4' },
    ]);
    expect((await story.client.get('/invoices?metadata[b]=3')).body.meta.total_count).toBe(1);
    expect((await story.client.get('/invoices?metadata[a]=')).body.meta.total_count).toBe(1);
    expect((await update(invoice, { payment_status: 'failed' })).body.invoice.metadata).toHaveLength(2);
    expect((await update(invoice, { metadata: [] })).body.invoice.metadata).toEqual([]);
  });

  test.each([
    [{ payment_status: 'paid' }, { payment_status: ['value_is_invalid'] }],
    [{ metadata: [1, 2, 3, 4, 5, 6].map((n) => ({ key: `k${n}`, value: 'v' })) }, { metadata: ['invalid_count'] }],
    [{ metadata: [{ key: 'k'.repeat(21), value: 'v' }] }, { key: ['value_is_too_long'] }],
    [{ metadata: [{ key: 'k', value: 'v'.repeat(141) }] }, { value: ['value_is_too_long'] }],
    [{ metadata: [{ key: 'k' }] }, { value: ['value_is_mandatory'] }],
    [{ metadata: [{ value: 'v' }] }, { key: ['value_is_mandatory'] }],
    [
      {
        metadata: [
          { key: 'k', value: '1' },
          { key: 'k', value: '2' },
        ],
      },
      { key: ['value_already_exist'] },
    ],
  ])('an invoice update with %j is refused', async (fields, details) => {
    const invoice = await bill();
    const { status, body } = await update(invoice, fields);
    expect([status, body.error_details]).toEqual([422, details]);
  });

  test('updates of drafts and voided invoices are refused', async () => {
    const invoice = await bill({ grace: 10 });
    refused(405, 'metadata_on_draft_invoice')(await update(invoice, { metadata: [{ key: 'a', value: '1' }] }));
    refused(405, 'payment_status_update_on_draft_invoice')(await update(invoice, { payment_status: 'succeeded' }));
    await put(invoice, '/finalize');
    await post(invoice, '/void');
    refused(405, 'update_on_voided_invoice')(await update(invoice, { payment_status: 'succeeded' }));
    refused(404, 'invoice')(await story.client.put('/invoices/x', { invoice: { payment_status: 'failed' } }));
  });
});

describe('voiding invoices', () => {
  test('a voided unpaid invoice owes nothing, and its income is reversed (LG10)', async () => {
    const invoice = await bill();
    await service.sql`update invoices set payment_overdue = true where id = ${invoice.svc_id}`;
    const { body, status } = await post(invoice, '/void');
    expect(status).toBe(200);
    expect(body.invoice).toMatchObject({
      status: 'voided',
      number: invoice.number,
      voided_at: '2024-03-01T00:00:00Z',
      payment_overdue: false,
      total_amount_cents: 1200,
      total_due_amount_cents: 0,
    });
    expect(await balances(invoice)).toEqual({});
    expect(await entries(invoice, 'invoice_voided')).toEqual([
      { account: 'revenue.subscription', side: 'debit', amount: 1000 },
      { account: 'tax_payable', side: 'debit', amount: 200 },
      { account: 'receivable', side: 'credit', amount: 1200 },
    ]);
    refused(405, 'not_voidable')(await post(invoice, '/void'));
  });

  test('an invoice whose payment status was set to succeeded may be voided', async () => {
    const invoice = await bill();
    await update(invoice, { payment_status: 'succeeded' });
    expect((await post(invoice, '/void', { generate_credit_note: false })).body.invoice.status).toBe('voided');
    expect(await balances(invoice)).toEqual({});
  });

  test('a draft cannot be voided, and a void can credit no more than there is', async () => {
    const invoice = await bill({ grace: 10 });
    refused(405, 'not_voidable')(await post(invoice, '/void'));
    await put(invoice, '/finalize');
    const asked = { generate_credit_note: true, credit_amount: 1201 };
    refused(422, 'total_amount_exceeds_invoice_amount')(await post(invoice, '/void', asked));
    expect((await read(invoice)).status).toBe('finalized');
  });

  test('50 voids of one invoice at the same time void it once', async () => {
    const invoice = await bill();
    expect(statuses(await atOnce(() => post(invoice, '/void')))).toEqual({ 200: 1, 405: PARALLEL - 1 });
    expect(await activities(invoice, 'invoice.voided')).toHaveLength(1);
    expect(await balances(invoice)).toEqual({});
  });
});

test('each change of an invoice is announced with its parts', async () => {
  await story.client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'http://127.0.0.1:9/hook' } });
  const draft = await bill({ grace: 10 });
  await put(draft, '/refresh');
  await put(draft, '/finalize');
  await update(draft, { payment_status: 'succeeded' });
  await update(draft, { metadata: [{ key: 'a', value: '1' }] });
  await post(draft, '/void');
  const told = await service.sql<{ webhook_type: string; payload: string }[]>`
    select webhook_type, payload from webhook_events
    where organization_id = ${story.organizationId} and object_id = ${draft.svc_id} order by position`;
  expect(told.map(({ webhook_type }) => webhook_type)).toEqual([
    'invoice.drafted',
    'invoice.created',
    'invoice.payment_status_updated',
    'invoice.voided',
  ]);
  const [, created, paid, voided] = told.map(({ payload }) => JSON.parse(payload).invoice);
  expect(created).toMatchObject({ status: 'finalized', fees: [{}], applied_invoice_custom_sections: [] });
  expect(paid).toMatchObject({ payment_status: 'succeeded', customer: {}, fees: [{}] });
  expect(paid).not.toHaveProperty('subscriptions');
  expect(voided).toMatchObject({ status: 'voided', billing_periods: [{}], subscriptions: [{}] });
});

describe('deleting, disputing and retrying invoices', () => {
  test('a deleted draft is no longer shown', async () => {
    const draft = await bill({ grace: 10 });
    const { body, status } = await story.client.delete(`/invoices/${draft.svc_id}`);
    expect([status, body.invoice.status]).toEqual([200, 'deleted']);
    expect((await story.client.get(`/invoices/${draft.svc_id}`)).status).toBe(404);
    expect((await story.client.get('/invoices')).body.meta.total_count).toBe(0);
    expect(await activities(draft, 'invoice.deleted')).toHaveLength(1);
    refused(404, 'invoice')(await story.client.delete(`/invoices/${draft.svc_id}`));
  });

  test('a final invoice cannot be deleted', async () => {
    const invoice = await bill();
    refused(405, 'not_deletable')(await story.client.delete(`/invoices/${invoice.svc_id}`));
  });

  test('the first lost dispute counts and is announced once', async () => {
    const draft = await bill({ grace: 10 });
    refused(405, 'not_disputable')(await post(draft, '/lose_dispute'));
    await put(draft, '/finalize');
    await story.client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'http://127.0.0.1:9/hook' } });
    const { body } = await post(draft, '/lose_dispute');
    expect(body.invoice).toMatchObject({ payment_dispute_lost_at: '2024-03-01T00:00:00Z', payment_status: 'pending' });
    await story.advanceTo('2024-03-02T00:00:00Z');
    await post(draft, '/lose_dispute');
    expect((await read(draft)).payment_dispute_lost_at).toBe('2024-03-01T00:00:00Z');
    expect((await story.client.get('/invoices?payment_dispute_lost=true')).body.meta.total_count).toBe(1);
    const told = await service.sql`
      select from webhook_events where organization_id = ${story.organizationId}
        and webhook_type = 'invoice.payment_dispute_lost'`;
    expect(told).toHaveLength(1);
  });

  test('a failed invoice that is retried waits for its taxes and is then final', async () => {
    const draft = await bill({ grace: 10 });
    refused(405, 'invalid_status')(await post(draft, '/retry'));
    await setStatus(draft, 'failed');
    await service.sql`
      insert into invoice_error_details (id, organization_id, invoice_id, error_code, details, created_at)
      values (gen_random_uuid(), ${story.organizationId}, ${draft.svc_id}, 'tax_error', '{"tax_error":"api_limit"}',
        '2024-03-01T00:00:00Z')`;
    expect((await read(draft)).error_details).toMatchObject([
      { error_code: 'tax_error', details: { tax_error: 'api_limit' } },
    ]);
    const { body } = await post(draft, '/retry');
    expect(body.invoice).toMatchObject({ status: 'pending', error_details: [] });
    const final = await until(async () => {
      const invoice = await read(draft);
      return invoice.status === 'pending' ? undefined : invoice;
    });
    expect(final).toMatchObject({ status: 'finalized', total_amount_cents: 1200, sequential_id: 1 });
  });
});

test('invoices finalized in parallel are numbered without gaps or duplicates in both schemes', async () => {
  for (const document_numbering of ['per_customer', 'per_billing_entity']) {
    const own = await openStory(service, '2024-03-01T00:00:00Z');
    const entity = (await own.client.get('/billing_entities')).body.billing_entities[0].code;
    await own.client.put(`/billing_entities/${entity}`, {
      billing_entity: { document_numbering, document_number_prefix: 'BENT-1' },
    });
    await own.plan({ amount_cents: 1000, pay_in_advance: true });
    const customers = [0, 1, 2, 3];
    const each = [0, 1, 2];
    for (const customer of customers) {
      await own.customer({ external_id: `c${customer}`, billing_configuration: { invoice_grace_period: 10 } });
      for (const n of each)
        await own.subscribe({ external_customer_id: `c${customer}`, external_id: `s${customer}-${n}` });
    }
    const drafts = (await Promise.all(customers.map((customer) => own.invoices(3, `c${customer}`)))).flat();
    const answers = await Promise.all(drafts.map((draft) => own.client.put(`/invoices/${draft.svc_id}/finalize`)));
    const numbers = answers.map(({ body }) => body.invoice.number).sort();
    const expected =
      document_numbering === 'per_customer'
        ? customers.flatMap((customer) => each.map((n) => `BENT-1-00${customer + 1}-00${n + 1}`))
        : Array.from({ length: 12 }, (_, index) => `BENT-1-202403-${String(index + 1).padStart(3, '0')}`);
    expect(numbers).toEqual(expected);
  }
});
