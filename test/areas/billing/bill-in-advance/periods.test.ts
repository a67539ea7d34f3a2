import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Rules: in-advance.md#units-of-one-event "billed at each period start", in-advance.md#gathering-paid-fees,
// plan-changes.md#downgrade.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Fee = any;

interface Seats extends Story {
  /** A plan with one charge in advance on seats. */
  sell(charge: object, plan?: object): Promise<void>;
  /** Takes a seat now, or at an instant. */
  seat(id: string, at?: string): Promise<void>;
  fees(count: number, query?: string): Promise<Fee[]>;
}

async function openSeats(now: string, customer: object = {}): Promise<Seats> {
  const story = await openStory(service, now);
  const metric = await story.metric('seats', {
    aggregation_type: 'unique_count_agg',
    field_name: 'id',
    recurring: true,
  });
  await story.customer(customer);
  return {
    ...story,
    sell: (charge, plan = {}) =>
      story.plan({
        amount_cents: 0,
        ...plan,
        charges: [
          {
            billable_metric_id: metric.svc_id,
            charge_model: 'standard',
            properties: { amount: '30' },
            pay_in_advance: true,
            ...charge,
          },
        ],
      }),
    async seat(id, at) {
      const when = at === undefined ? {} : { timestamp: Date.parse(at) / 1000 };
      const event = { transaction_id: id, external_subscription_id: 'sub', code: 'seats', properties: { id }, ...when };
      const { status, text } = await story.client.post('/events', { event });
      if (status !== 200) throw new Error(text);
    },
    fees: (count, query = '') =>
      until(async () => {
        const { body: list } = await story.client.get(`/fees?fee_type=charge&per_page=100${query}`);
        return list.fees.length === count ? list.fees : undefined;
      }),
  };
}

const pay = async (story: Story, fee: Fee) =>
  expect((await story.client.put(`/fees/${fee.svc_id}`, { fee: { payment_status: 'succeeded' } })).status).toBe(200);

const gathered = async (story: Story): Promise<Invoice[]> =>
  (await story.client.get('/invoices?invoice_type=advance_charges')).body.invoices.filter(
    (invoice: Invoice) => invoice.invoice_type === 'advance_charges',
  );

test('fees paid during the month are gathered at its end, the others and the renewal with the next one (G84)', async () => {
  const story = await openSeats('2024-06-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.sell({
    invoiceable: false,
    prorated: true,
    regroup_paid_fees: 'invoice',
    properties: { amount: '30.12' },
  });
  await story.subscribe();
  for (const day of [11, 12, 13, 14, 15]) {
    await story.advanceTo(`2024-06-${day}T00:00:00Z`);
    await story.seat(`seat ${day}`);
  }
  const cents = (fees: Fee[]) => fees.map((fee) => fee.amount_cents).sort((a, b) => b - a);
  const june = await story.fees(5);
  expect(cents(june)).toEqual([2008, 1908, 1807, 1707, 1606]);
  for (const fee of june.filter(({ amount_cents }) => amount_cents > 1800)) await pay(story, fee);
  await story.advanceTo('2024-07-01T02:00:00Z');
  expect((await gathered(story)).map(({ fees_amount_cents }) => fees_amount_cents)).toEqual([5723]);
  const unpaid = (await story.fees(6)).filter(({ payment_status }) => payment_status === 'pending');
  expect(cents(unpaid)).toEqual([15060, 1707, 1606]);
  for (const fee of unpaid) await pay(story, fee);
  await story.advanceTo('2024-08-01T02:00:00Z');
  const next = (await gathered(story)).find(({ fees_amount_cents }) => fees_amount_cents !== 5723);
  expect(next).toMatchObject({ fees_amount_cents: 18373, taxes_amount_cents: 3674, total_amount_cents: 22047 });
});

test('a fee paid on the billing day for the new month waits for the next run (G85)', async () => {
  const story = await openSeats('2024-06-01T00:00:00Z');
  await story.sell({ invoiceable: false, prorated: true, regroup_paid_fees: 'invoice' });
  await story.subscribe();
  await story.advanceTo('2024-07-01T00:01:00Z');
  await story.seat('a');
  const [fee] = await story.fees(1);
  await pay(story, fee);
  await story.advanceTo('2024-07-01T02:00:00Z');
  expect(await gathered(story)).toEqual([]);
  await story.advanceTo('2024-08-01T02:00:00Z');
  const [invoice] = await gathered(story);
  expect(invoice).toMatchObject({
    status: 'finalized',
    payment_status: 'succeeded',
    fees_amount_cents: 3000,
    total_amount_cents: 3000,
    total_paid_amount_cents: 3000,
    total_due_amount_cents: 0,
    issuing_date: '2024-08-01',
  });
  const whole = (await story.client.get(`/invoices/${invoice.svc_id}`)).body.invoice;
  expect(whole.fees.map((each: Fee) => each.svc_id)).toEqual([fee.svc_id]);
  expect(whole.billing_periods).toMatchObject([{ invoicing_reason: 'in_advance_charge_periodic' }]);
});

test('a paid fee is booked by itself; its invoice shows the payment and books nothing, and its void frees the money (LG14)', async () => {
  const story = await openSeats('2024-06-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.sell({ invoiceable: false, regroup_paid_fees: 'invoice', properties: { amount: '20.08' } });
  await story.subscribe();
  await story.seat('a');
  const [fee] = await story.fees(1);
  const status = async (payment_status: string) =>
    expect((await story.client.put(`/fees/${fee.svc_id}`, { fee: { payment_status } })).status).toBe(200);
  const balances = async (): Promise<Record<string, number>> => {
    const { ledger_accounts } = (await story.client.get('/ledger/accounts')).body;
    const open = ledger_accounts.filter((account: Invoice) => account.balance_cents !== 0);
    return Object.fromEntries(open.map((account: Invoice) => [account.code, account.balance_cents]));
  };
  for (const unpaid of ['failed', 'refunded', 'pending']) {
    await status(unpaid);
    expect(await balances()).toEqual({});
  }
  const paid = { cash: 2410, 'revenue.usage': 2008, tax_payable: 402 };
  await status('succeeded');
  await status('succeeded');
  expect(await balances()).toEqual(paid);
  await status('refunded');
  expect(await balances()).toEqual({ 'revenue.usage': 2008, sales_returns: 2008 });
  await status('failed');
  expect(await balances()).toEqual({});
  await status('succeeded');
  expect(await balances()).toEqual(paid);

  await story.advanceTo('2024-07-01T02:00:00Z');
  const [invoice] = await gathered(story);
  expect(invoice).toMatchObject({ total_amount_cents: 2410, taxes_amount_cents: 402, total_paid_amount_cents: 2410 });
  expect(await balances()).toEqual(paid);
  const { payments } = (await story.client.get(`/payments?invoice_id=${invoice.svc_id}`)).body;
  expect(payments).toMatchObject([{ type: 'manual', payment_status: 'succeeded', amount_cents: 2410 }]);
  const { payment_receipts } = (await story.client.get(`/payment_receipts?invoice_id=${invoice.svc_id}`)).body;
  expect(payment_receipts).toHaveLength(1);

  expect((await story.client.post(`/invoices/${invoice.svc_id}/void`)).status).toBe(200);
  expect(await balances()).toEqual({ cash: 2410, unapplied_receipts: 2410 });
});

test('deleting a paid fee takes its money out of the books', async () => {
  const story = await openSeats('2024-06-01T00:00:00Z');
  await story.sell({ invoiceable: false });
  await story.subscribe();
  await story.seat('a');
  const [fee] = await story.fees(1);
  await pay(story, fee);
  expect((await story.client.delete(`/fees/${fee.svc_id}`)).status).toBe(200);
  const { ledger_accounts } = (await story.client.get('/ledger/accounts')).body;
  expect(ledger_accounts.map((account: Invoice) => account.balance_cents)).toEqual([0, 0]);
});

test('fees of charges that do not regroup paid fees are on no invoice, however they were paid', async () => {
  const story = await openSeats('2024-06-01T00:00:00Z');
  await story.sell({ invoiceable: false });
  await story.subscribe();
  await story.seat('a');
  const [fee] = await story.fees(1);
  await pay(story, fee);
  await story.advanceTo('2024-07-01T02:00:00Z');
  expect(await gathered(story)).toEqual([]);
});

test('the end of a subscription gathers everything that was paid, including the period that it cuts', async () => {
  const story = await openSeats('2024-06-01T00:00:00Z');
  await story.sell({ invoiceable: false, regroup_paid_fees: 'invoice' });
  await story.subscribe();
  await story.seat('a');
  const [fee] = await story.fees(1);
  await pay(story, fee);
  await story.advanceTo('2024-06-10T00:00:00Z');
  await story.client.delete('/subscriptions/sub');
  const invoice = await until(async () => (await gathered(story))[0]);
  expect(invoice).toMatchObject({ fees_amount_cents: 3000, taxes_amount_cents: 0 });
  expect((await story.client.put(`/fees/${fee.svc_id}`, { fee: { payment_status: 'failed' } })).body).toMatchObject({
    status: 405,
    code: 'invoiced_fee',
  });
});

test('seats carried over are billed on the invoice of the period once, whether it is a draft or final', async () => {
  const story = await openSeats('2024-06-10T00:00:00Z', { billing_configuration: { invoice_grace_period: 3 } });
  await story.sell({ prorated: true });
  await story.subscribe();
  await story.seat('a');
  await story.advanceTo('2024-07-01T02:00:00Z');
  const drafts = (await story.invoices(2)).filter((invoice) => invoice.status === 'draft');
  const fee = drafts[0].fees.find((each: Fee) => each.item.type === 'charge');
  expect(fee).toMatchObject({
    amount_cents: 3000,
    units: '1.0',
    pay_in_advance: false,
    from_date: '2024-07-01T00:00:00Z',
    to_date: '2024-07-31T23:59:59Z',
  });
  await story.seat('b');
  await story.advanceTo('2024-07-05T00:00:00Z');
  const all = await story.invoices(3);
  expect(all.map((invoice) => [invoice.status, invoice.fees_amount_cents])).toEqual(
    expect.arrayContaining([
      ['finalized', 2100],
      ['finalized', 3000],
      ['finalized', 3000],
    ]),
  );
});

test('standalone fees of seats carried over are made once although the draft is computed twice', async () => {
  const story = await openSeats('2024-06-10T00:00:00Z', { billing_configuration: { invoice_grace_period: 3 } });
  await story.sell({ invoiceable: false });
  await story.subscribe();
  await story.seat('a');
  await story.advanceTo('2024-07-05T00:00:00Z');
  expect((await story.fees(2)).map((fee) => fee.amount_cents)).toEqual([3000, 3000]);
});

test.each([
  ['in advance', true],
  ['in arrears', false],
])('a downgrade to a plan %s bills the seats once at the new price', async (_when, pay_in_advance) => {
  const story = await openSeats('2024-06-10T00:00:00Z');
  await story.sell({ properties: { amount: '10' } }, { code: 'large', amount_cents: 9000 });
  await story.sell({ properties: { amount: '20' } }, { code: 'small', amount_cents: 1000, pay_in_advance });
  await story.subscribe({ plan_code: 'large' });
  await story.seat('a');
  await story.fees(1);
  await story.subscribe({ plan_code: 'small' });
  await story.advanceTo('2024-07-01T02:00:00Z');
  const fees = await story.fees(2);
  expect(fees.map((fee) => [fee.amount_cents, fee.from_date])).toEqual([
    [1000, '2024-06-10T00:00:00Z'],
    [2000, '2024-07-01T00:00:00Z'],
  ]);
  const { body } = await story.client.get('/subscriptions/sub');
  expect(fees[1].svc_subscription_id).toBe(body.subscription.svc_id);
  const [invoice] = (await story.invoices(2)).filter((each) => each.issuing_date === '2024-07-01');
  expect(invoice.fees_amount_cents).toBe(pay_in_advance ? 9000 * 0.7 + 2000 + 1000 : 9000 * 0.7 + 2000);
});

test('an upgrade does not bill seats again', async () => {
  const story = await openSeats('2024-06-10T00:00:00Z');
  await story.sell({ properties: { amount: '10' } }, { code: 'small', amount_cents: 1000 });
  await story.sell({ properties: { amount: '20' } }, { code: 'large', amount_cents: 9000, pay_in_advance: true });
  await story.subscribe({ plan_code: 'small' });
  await story.seat('a');
  await story.fees(1);
  await story.advanceTo('2024-06-20T00:00:00Z');
  await story.subscribe({ plan_code: 'large' });
  await story.invoices(2);
  await story.fees(1);
  await story.advanceTo('2024-07-01T02:00:00Z');
  expect((await story.fees(2))[1].amount_cents).toBe(2000);
});

// 29 of 30 days, whether the fee is made before the end or after it.
test.each([
  ['an end', false, false],
  ['an end', false, true],
  ['an upgrade', true, false],
  ['an upgrade', true, true],
])(
  '%s right after an event leaves its fee as it was when the event was accepted',
  async (_name, isUpgrade, isBilledAfter) => {
    const story = await openSeats('2024-04-01T00:00:00Z');
    await story.sell({ invoiceable: false, prorated: true });
    await story.plan({ code: 'big', amount_cents: 100 });
    await story.subscribe();
    await story.advanceTo('2024-04-22T02:00:00Z');
    const seat = () => story.seat('a', '2024-04-02T00:00:00Z');
    const end = () => (isUpgrade ? story.subscribe({ plan_code: 'big' }) : story.client.delete('/subscriptions/sub'));
    if (isBilledAfter) await inTurn(story, end, seat);
    else {
      await seat();
      await story.fees(1);
      await end();
    }
    const [fee] = await story.fees(1);
    expect(fee).toMatchObject({
      amount_cents: 2900,
      from_date: '2024-04-01T00:00:00Z',
      to_date: '2024-04-30T23:59:59Z',
    });
  },
);

/** Has two things that lock the customer wait for it, and go on in this order; the clock stands still meanwhile. */
async function inTurn(story: Story, first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<void> {
  const waiting = (count: number) =>
    until(async () => {
      const [row] = await service.sql<{ waiting: number }[]>`
        select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return row!.waiting >= count || undefined;
    });
  let ended: Promise<unknown> | undefined;
  await service.sql.begin(async (tx) => {
    await tx`select from customers where organization_id = ${story.organizationId} for update`;
    ended = first();
    await waiting(1);
    await second();
    await waiting(2);
  });
  await ended;
}
