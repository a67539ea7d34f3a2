import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';

// Coupons on invoices: coupons.md#states, coupons.md#on-an-invoice, coupons.md#voided-invoices.
let service: TestService;
let story: Story;

beforeAll(async () => {
  // 50 commands on one record wait for each other: a busy machine takes its time.
  service = await startService();
});
afterAll(() => service.stop());

const CLOSED = { name: 'K', frequency: 'once', expiration: 'no_expiration' };
const TEN = { ...CLOSED, code: 'ten', coupon_type: 'fixed_amount', amount_cents: 1000, amount_currency: 'USD' };

async function give(coupon: Record<string, unknown>): Promise<void> {
  const made = await story.client.post('/coupons', { coupon });
  expect(made.status, made.text).toBe(200);
  const applied_coupon = { external_customer_id: 'acme', coupon_code: coupon.code };
  const applied = await story.client.post('/applied_coupons', { applied_coupon });
  expect(applied.status, applied.text).toBe(200);
}
const held = async (): Promise<Invoice[]> =>
  (await story.client.get('/customers/acme/applied_coupons')).body.applied_coupons;
const couponsOf = (invoices: Invoice[]) => invoices.map(({ coupons_amount_cents }) => coupons_amount_cents);

beforeEach(async () => {
  story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
});

describe('coupons on a plan of 6.00 a month', () => {
  beforeEach(async () => {
    await story.customer();
    await story.plan({ amount_cents: 600 });
    await story.subscribe();
  });

  test('a one-time coupon of 10.00 is used up by the second invoice, and a void restores what it gave (golden cases 21, 22, 33)', async () => {
    await give(TEN);
    await story.advanceTo('2024-04-01T02:00:00Z');
    expect(await held()).toMatchObject([{ status: 'active', amount_cents_remaining: 400 }]);
    await story.advanceTo('2024-06-01T02:00:00Z');
    const invoices = await story.invoices(3);
    expect(couponsOf(invoices)).toEqual([600, 400, 0]);
    expect(invoices[1]).toMatchObject({
      sub_total_excluding_taxes_amount_cents: 200,
      taxes_amount_cents: 40,
      total_amount_cents: 240,
      credits: [
        {
          amount_cents: 400,
          before_taxes: true,
          item: { type: 'coupon', code: 'ten', name: 'K' },
          invoice: { svc_id: invoices[1].svc_id, payment_status: 'pending' },
        },
      ],
      fees: [{ precise_coupons_amount_cents: '400.0', taxes_amount_cents: 40 }],
    });
    expect(await held()).toMatchObject([
      { status: 'terminated', amount_cents_remaining: 0, terminated_at: '2024-05-01T00:10:00Z' },
    ]);
    await story.client.post(`/invoices/${invoices[1].svc_id}/void`);
    expect(await held()).toMatchObject([
      { status: 'active', amount_cents_remaining: 400, terminated_at: null, credits: [{}, { amount_cents: 400 }] },
    ]);
  });

  test('a void gives a recurring coupon its period back and reactivates it', async () => {
    await give({ ...TEN, frequency: 'recurring', frequency_duration: 2 });
    await story.advanceTo('2024-06-01T02:00:00Z');
    const invoices = await story.invoices(3);
    expect(couponsOf(invoices)).toEqual([600, 600, 0]);
    expect(await held()).toMatchObject([{ status: 'terminated', frequency_duration_remaining: 0 }]);
    await story.client.post(`/invoices/${invoices[0].svc_id}/void`);
    expect(await held()).toMatchObject([{ status: 'active', frequency_duration_remaining: 1 }]);
  });

  test('an applied coupon outlives its coupon, and a void does not reactivate it afterwards (golden case 30)', async () => {
    await give({ ...TEN, expiration: 'time_limit', expiration_at: '2024-03-10T08:00:00Z' });
    await story.advanceTo('2024-03-10T08:30:00Z');
    expect((await story.client.get('/coupons/ten')).body.coupon.terminated_at).toBe('2024-03-10T08:30:00Z');
    await story.advanceTo('2024-05-01T02:00:00Z');
    const invoices = await story.invoices(2);
    expect(couponsOf(invoices)).toEqual([600, 400]);
    await story.client.post(`/invoices/${invoices[1].svc_id}/void`);
    expect(await held()).toMatchObject([{ status: 'terminated', coupon_status: 'terminated' }]);
    const again = { external_customer_id: 'acme', coupon_code: 'ten' };
    expect((await story.client.post('/applied_coupons', { applied_coupon: again })).status).toBe(404);
  });

  test('the ledger books the discount of a coupon, and a void reverses it', async () => {
    await give(TEN);
    await story.advanceTo('2024-04-01T02:00:00Z');
    const [invoice] = await story.invoices(1);
    const booked = async () => {
      const rows = await service.sql<{ account_code: string; side: string; amount: number }[]>`
        select account_code, side, sum(amount_cents)::bigint as amount from ledger_entries
        where organization_id = ${story.organizationId} and account_code = 'coupons'
        group by account_code, side order by side desc`;
      return rows.map(({ side, amount }) => [side, amount]);
    };
    expect(await booked()).toEqual([['debit', 600]]);
    await story.client.post(`/invoices/${invoice.svc_id}/void`);
    expect(await booked()).toEqual([
      ['debit', 600],
      ['credit', 600],
    ]);
  });

  test('a preview uses the coupons of the customer, else those in the request, and uses none of them up', async () => {
    const preview = async (coupons?: object[]) => {
      const body = { customer: { external_id: 'acme' }, subscriptions: { external_ids: ['sub'] }, coupons };
      const { status, text, body: answer } = await story.client.post('/invoices/preview', body);
      expect(status, text).toBe(200);
      return answer.invoice;
    };
    const half = { code: 'half', coupon_type: 'percentage', percentage_rate: '50' };
    expect(await preview([half])).toMatchObject({
      coupons_amount_cents: 300,
      total_amount_cents: 360,
      credits: [{ item: { type: 'coupon', code: 'half' } }],
    });
    await give(TEN);
    expect(await preview([half])).toMatchObject({ coupons_amount_cents: 600, total_amount_cents: 0 });
    expect(await held()).toMatchObject([{ status: 'active', amount_cents_remaining: 1000 }]);
    expect((await story.client.get('/coupons')).body.meta.total_count).toBe(1);
  });
});

test('a coupon limited to a plan also applies to its overrides and to no other plan', async () => {
  await story.customer();
  await story.plan({ amount_cents: 600 });
  await story.plan({ amount_cents: 900, code: 'other' });
  await story.subscribe({ plan_overrides: { amount_cents: 800 } });
  await story.subscribe({ external_id: 'sub2', plan_code: 'other' });
  await give({ ...TEN, applies_to: { plan_codes: ['plan'] } });
  await story.advanceTo('2024-04-01T02:00:00Z');
  const [invoice] = await story.invoices(1);
  expect(invoice.coupons_amount_cents).toBe(800);
  expect(
    invoice.fees.map((fee: Invoice) => [fee.external_subscription_id, fee.precise_coupons_amount_cents]).sort(),
  ).toEqual([
    ['sub', '800.0'],
    ['sub2', '0.0'],
  ]);
});

test('one coupon on two drafts that 50 commands finalize at the same time is used once', async () => {
  await story.customer({ billing_configuration: { invoice_grace_period: 5 } });
  await story.plan({ amount_cents: 800 });
  await story.plan({ amount_cents: 800, code: 'euro', amount_currency: 'EUR' });
  await story.subscribe();
  await story.subscribe({ external_id: 'sub2', plan_code: 'euro' });
  await give({ ...TEN, coupon_type: 'percentage', percentage_rate: '50' });
  await story.advanceTo('2024-04-01T02:00:00Z');
  const drafts = await story.invoices(2);
  expect(couponsOf(drafts)).toEqual([0, 0]);
  await Promise.all(
    Array.from({ length: 50 }, (_, at) => story.client.put(`/invoices/${drafts[at % 2].svc_id}/finalize`)),
  );
  const invoices = await story.invoices(2);
  expect(invoices.map(({ status }: Invoice) => status)).toEqual(['finalized', 'finalized']);
  expect(couponsOf(invoices).sort()).toEqual([0, 400]);
  expect(await held()).toMatchObject([{ status: 'terminated', credits: [{ amount_cents: 400 }] }]);
});

test('a deleted customer keeps no coupon', async () => {
  await story.customer();
  await give(TEN);
  await story.client.delete('/customers/acme');
  await story.advanceTo('2024-03-01T01:00:00Z');
  const rows = await service.sql`
    select status from applied_coupons where organization_id = ${story.organizationId}`;
  expect(rows.map(({ status }) => status)).toEqual(['terminated']);
  expect((await story.client.get('/applied_coupons')).body.meta.total_count).toBe(0);
});
