import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from './support/service.ts';
import { type Invoice, openStory, type Story } from './support/story.ts';
import { until } from './support/until.ts';
import { ok, type Shown } from './support/words.ts';

// The domain in one story, from the first event to a credited invoice. Each test goes on where the one before it ended.
// The words (metric, plan, subscribe, use, advanceTo …) are in support/words.ts and support/story.ts.

let service: TestService;
let story: Story;
let invoice: Invoice;
beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2026-03-01T09:00:00Z');
});
afterAll(() => service.stop());

test('a catalogue defines what is counted, what it costs and which tax applies', async () => {
  const calls = await story.metric('calls', { name: 'API calls' });
  const storage = await story.metric('gb', { name: 'Storage', aggregation_type: 'max_agg', field_name: 'gb' });
  await story.tax(20);
  const plan = await story.plan({
    name: 'Team',
    amount_cents: 3100, // 31.00 a month, paid afterwards
    charges: [
      {
        billable_metric_id: calls.svc_id,
        charge_model: 'graduated',
        properties: {
          graduated_ranges: [
            { from_value: 0, to_value: 2, per_unit_amount: '0', flat_amount: '0' }, // two are free
            { from_value: 3, to_value: null, per_unit_amount: '1.50', flat_amount: '0' },
          ],
        },
      },
      { billable_metric_id: storage.svc_id, charge_model: 'standard', properties: { amount: '0.25' } },
    ],
  });
  expect(plan.charges.map((charge: Shown) => charge.billable_metric_code)).toEqual(['calls', 'gb']);
});

test('a customer subscribes to the plan', async () => {
  await story.customer({ name: 'Acme', timezone: 'Europe/Berlin' });
  const { body } = await story.subscribe();
  expect(body.subscription).toMatchObject({ external_id: 'sub', plan_code: 'plan', status: 'active' });
});

test('events are counted as they arrive, and one that is sent twice counts once', async () => {
  await story.advanceTo('2026-03-10T12:00:00Z');
  await story.use('calls', {}, { transaction_id: 'first' });
  await story.client.post('/events', {
    event: { transaction_id: 'first', external_subscription_id: 'sub', code: 'calls' },
  });
  for (let call = 0; call < 4; call += 1) await story.use('calls');
  await story.use('gb', { gb: 40 });
  await story.use('gb', { gb: 12 });
  const usage = await until(async () => {
    const { body } = await story.client.get('/customers/acme/current_usage?external_subscription_id=sub');
    return body.customer_usage.amount_cents === 1450 && body.customer_usage;
  });
  // Five calls, two of them free: 4.50. At most 40 GB at 0.25: 10.00.
  expect(usage.charges_usage.map((each: Shown) => [each.units, each.amount_cents])).toEqual([
    ['5.0', 450],
    ['40.0', 1000],
  ]);
});

test('a month is billed when it is over in the customer’s zone', async () => {
  await story.advanceTo('2026-04-01T00:00:00Z'); // two o'clock in Berlin
  [invoice] = await story.invoices(1);
  expect(invoice).toMatchObject({
    status: 'finalized',
    payment_status: 'pending',
    issuing_date: '2026-04-01',
    fees_amount_cents: 4550, // 31.00 + 4.50 + 10.00
    taxes_amount_cents: 910,
    total_amount_cents: 5460,
    total_due_amount_cents: 5460,
  });
  const fees = invoice.fees.map((fee: Shown) => [fee.item.code, fee.amount_cents]).sort();
  expect(fees).toEqual([
    ['calls', 450],
    ['gb', 1000],
    ['plan', 3100],
  ]);
});

test('a billed month is not billed again, whatever time passes', async () => {
  await story.advanceTo('2026-04-20T00:00:00Z');
  expect(await story.invoices(1)).toHaveLength(1);
});

test('a customer pays in two parts, and the invoice knows what is still due', async () => {
  expect((await story.pay(invoice.svc_id, 5000)).status).toBe(200);
  expect(await story.invoice(invoice.svc_id)).toMatchObject({
    payment_status: 'pending',
    total_paid_amount_cents: 5000,
    total_due_amount_cents: 460,
  });
  expect((await story.pay(invoice.svc_id, 460)).status).toBe(200);
  expect(await story.invoice(invoice.svc_id)).toMatchObject({
    payment_status: 'succeeded',
    total_due_amount_cents: 0,
  });
  expect((await story.pay(invoice.svc_id, 1)).status).toBe(422); // there is nothing left to pay
});

test('a complaint about the storage is answered with a credit note', async () => {
  const fee = invoice.fees.find((each: Shown) => each.item.code === 'gb');
  const { credit_note: note } = await ok(
    story.client.post('/credit_notes', {
      credit_note: {
        invoice_id: invoice.svc_id,
        reason: 'product_unsatisfactory',
        items: [{ fee_id: fee.svc_id, amount_cents: 600 }],
        credit_amount_cents: 720, // 6.00 and its tax
      },
    }),
  );
  expect(note).toMatchObject({ credit_status: 'available', taxes_amount_cents: 120, balance_amount_cents: 720 });
});

test('the next invoice is smaller by the credit, which is then used up', async () => {
  await story.advanceTo('2026-05-01T00:00:00Z');
  const [, next] = await story.invoices(2);
  expect(next).toMatchObject({
    fees_amount_cents: 3100, // nothing was used in April
    taxes_amount_cents: 620,
    credit_notes_amount_cents: 720,
    total_amount_cents: 3000,
  });
  const { credit_notes: notes } = await ok(story.client.get('/credit_notes?external_customer_id=acme'));
  expect(notes).toMatchObject([{ credit_status: 'consumed', balance_amount_cents: 0 }]);
});

test('the ledger agrees with what was billed, paid and credited', async () => {
  const [books] = await service.sql<{ debits: number; credits: number }[]>`
    select sum(amount_cents) filter (where side = 'debit')::int as debits,
      sum(amount_cents) filter (where side = 'credit')::int as credits
    from ledger_entries where organization_id = ${story.organizationId}`;
  expect(books!.debits).toBeGreaterThan(0);
  expect(books!.debits).toBe(books!.credits);
});
