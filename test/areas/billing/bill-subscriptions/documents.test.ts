import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';

// Golden cases of invoices.md#dates, golden-invoices.md#totals-drafts-numbers and taxes.md#computation.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const entity = async (story: Story, fields: object) => {
  const { body } = await story.client.get('/billing_entities');
  const answer = await story.client.put(`/billing_entities/${body.billing_entities[0].code}`, {
    billing_entity: fields,
  });
  expect(answer.status).toBe(200);
};
const numbers = (invoices: Invoice[]) => invoices.map((invoice) => invoice.number);

test.each([
  ['next_period_start', 'align_with_finalization_date', 0, '2024-03-01', '2024-03-31', null],
  ['next_period_start', 'align_with_finalization_date', 3, '2024-03-04', '2024-04-03', '2024-03-04T00:20:00Z'],
  ['next_period_start', 'keep_anchor', 3, '2024-03-01', '2024-03-31', '2024-03-04T00:20:00Z'],
  ['current_period_end', 'keep_anchor', 3, '2024-02-29', '2024-03-30', '2024-03-04T00:20:00Z'],
  ['current_period_end', 'align_with_finalization_date', 0, '2024-02-29', '2024-03-30', null],
  ['current_period_end', 'align_with_finalization_date', 3, '2024-03-04', '2024-04-03', '2024-03-04T00:20:00Z'],
])(
  'an invoice is dated (G70, G71): %s, %s, grace %i: issued %s, due %s',
  async (anchor, adjustment, grace, issued, due, finalizedAt) => {
    const story = await openStory(service, '2024-02-01T00:00:00Z');
    await story.customer({
      net_payment_term: 30,
      billing_configuration: {
        invoice_grace_period: grace,
        subscription_invoice_issuing_date_anchor: anchor,
        subscription_invoice_issuing_date_adjustment: adjustment,
      },
    });
    await story.plan({ amount_cents: 1000 });
    await story.subscribe();
    await story.advanceTo('2024-03-01T02:00:00Z');
    const [made] = await story.invoices(1);
    expect(made).toMatchObject({ status: grace === 0 ? 'finalized' : 'draft', issuing_date: issued });

    await story.advanceTo('2024-03-05T00:00:00Z');
    const [final] = await story.invoices(1);
    expect(final).toMatchObject({
      status: 'finalized',
      issuing_date: issued,
      payment_due_date: due,
      total_amount_cents: 1000,
    });
    expect(final.updated_at).toBe(finalizedAt ?? '2024-03-01T00:10:00Z');
  },
);

test('an invoice is drafted, finalized and flagged overdue, each at its tick (TC3)', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.customer({ net_payment_term: 30, billing_configuration: { invoice_grace_period: 3 } });
  await story.plan({ amount_cents: 1000 });
  await story.subscribe();
  await story.advanceTo('2024-04-05T00:00:00Z');
  const [march] = await story.invoices(2);
  expect(march).toMatchObject({ status: 'finalized', payment_overdue: true });
  const { body } = await story.client.get(
    '/test_clock/timeline?kinds[]=activity&resource_types[]=Invoice&per_page=100',
  );
  const ofMarch = body.timeline.filter((each: Invoice) => each.svc_resource_id === march.svc_id);
  expect(ofMarch.map((each: Invoice) => [each.name, each.at])).toEqual([
    ['invoice.drafted', '2024-03-01T00:10:00Z'],
    ['invoice.created', '2024-03-04T00:20:00Z'],
    ['invoice.payment_overdue', '2024-04-04T00:25:00Z'],
  ]);
});

test('invoices are numbered per customer, then per entity, and per customer again (G72 to G74)', async () => {
  const story = await openStory(service, '2023-07-19T12:12:00Z');
  await entity(story, { document_number_prefix: 'BENT-1', timezone: 'Europe/Paris' });
  await story.plan({ amount_cents: 12900, pay_in_advance: true });
  for (const name of ['a', 'b', 'c']) {
    await story.customer({ external_id: name });
    await story.subscribe({ external_customer_id: name, external_id: name, billing_time: 'anniversary' });
    await story.invoices(1, name);
  }
  await story.advanceTo('2023-10-10T00:00:00Z');
  expect(numbers(await story.invoices(3, 'a'))).toEqual(['BENT-1-001-001', 'BENT-1-001-002', 'BENT-1-001-003']);
  expect(numbers(await story.invoices(3, 'c'))[2]).toBe('BENT-1-003-003');

  await entity(story, { document_numbering: 'per_billing_entity', document_number_prefix: 'BENT-11' });
  await story.advanceTo('2023-10-20T00:00:00Z');
  const october = [];
  for (const name of ['a', 'b', 'c']) october.push((await story.invoices(4, name))[3]);
  expect(numbers(october).sort()).toEqual(['BENT-11-202310-010', 'BENT-11-202310-011', 'BENT-11-202310-012']);
  expect(october.map((invoice) => invoice.sequential_id)).toEqual([4, 4, 4]);

  await entity(story, { document_numbering: 'per_customer' });
  await story.advanceTo('2023-11-20T00:00:00Z');
  expect(numbers(await story.invoices(5, 'a'))[4]).toBe('BENT-11-001-005');

  await entity(story, { document_numbering: 'per_billing_entity' });
  await story.advanceTo('2023-12-20T00:00:00Z');
  const december = [];
  for (const name of ['a', 'b', 'c']) december.push((await story.invoices(6, name))[5]);
  expect(numbers(december).sort()).toEqual(['BENT-11-202312-016', 'BENT-11-202312-017', 'BENT-11-202312-018']);
});

test('an invoice of zero that is not wanted is closed, hidden and not numbered (G68)', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.customer({ finalize_zero_amount_invoice: 'skip' });
  await story.plan({ amount_cents: 0 });
  await story.subscribe();
  await story.advanceTo('2024-03-02T00:00:00Z');
  await story.invoices(0);
  const hidden = await service.sql`
    select status, number, sequential_id from invoices where organization_id = ${story.organizationId}`;
  expect([...hidden]).toEqual([{ status: 'closed', number: null, sequential_id: null }]);
  await story.customer({ finalize_zero_amount_invoice: 'finalize' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [april] = await story.invoices(1);
  expect(april).toMatchObject({ sequential_id: 1, total_amount_cents: 0, payment_status: 'succeeded' });
});

test('a tax is rounded once over the invoice and once over each fee (G66)', async () => {
  const story = await openStory(service, '2024-01-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.customer();
  await story.plan({ amount_cents: 33 });
  for (const external_id of ['a', 'b', 'c']) await story.subscribe({ external_id });
  await story.advanceTo('2024-02-02T00:00:00Z');
  const [invoice] = await story.invoices(1);
  expect(invoice).toMatchObject({
    fees_amount_cents: 99,
    taxes_amount_cents: 20,
    total_amount_cents: 119,
    sub_total_excluding_taxes_amount_cents: 99,
    sub_total_including_taxes_amount_cents: 119,
  });
  expect(invoice.fees.map((fee: Invoice) => fee.taxes_amount_cents)).toEqual([7, 7, 7]);
  expect(invoice.applied_taxes).toMatchObject([
    { tax_code: 'vat', tax_rate: 20, fees_amount_cents: 99, amount_cents: 20 },
  ]);
});

test('fees bear different rates, and the tax of the plan comes before that of the customer (example A.4)', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'High', code: 'high', rate: '20' } });
  await story.client.post('/taxes', { tax: { name: 'Low', code: 'low', rate: 10 } });
  await story.customer({ tax_codes: ['low'] });
  await story.plan({ amount_cents: 5000, tax_codes: ['high'] });
  await story.plan({ amount_cents: 3000, code: 'other' });
  await story.subscribe();
  await story.subscribe({ external_id: 'second', plan_code: 'other' });
  await story.advanceTo('2024-03-02T00:00:00Z');
  const [invoice] = await story.invoices(1);
  expect(invoice).toMatchObject({ taxes_amount_cents: 1300, total_amount_cents: 9300 });
  const [rate] = await service.sql`select taxes_rate from invoices where id = ${invoice.svc_id}`;
  expect(rate!.taxes_rate.toFixed()).toBe('16.25');
});
