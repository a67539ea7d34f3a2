import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ActiveCoupon, mayReduce, useCoupons } from '../../../src/engine/credits/coupon.ts';
import { canAppliedCouponMove, canCouponMove } from '../../../src/engine/credits/coupon-states.ts';
import { newDraft } from '../../../src/engine/invoices/draft.ts';
import { computeInvoice } from '../../../src/engine/invoices/invoice-steps.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal, sum, ZERO } from '../../../src/engine/money/decimal.ts';

const fixed = (amount: number, changes: Partial<ActiveCoupon> = {}): ActiveCoupon => ({
  id: 'k',
  code: 'k',
  frequency: 'once',
  limit: 'none',
  eligible: new Set(),
  worth: { type: 'fixed_amount', amountCents: cents(amount), currency: 'EUR' },
  periodsLeft: null,
  ...changes,
});
const percentage = (rate: string, changes: Partial<ActiveCoupon> = {}): ActiveCoupon =>
  fixed(0, { worth: { type: 'percentage', rate: decimal(rate) }, ...changes });

const fee = (key: string, amount: number) => ({
  key,
  amountCents: cents(amount),
  preciseCouponsAmountCents: ZERO,
});
const use = (coupons: ActiveCoupon[], fees: ReturnType<typeof fee>[], currency = 'EUR') =>
  useCoupons({
    coupons,
    currency,
    fees,
    subTotalCents: cents(fees.reduce((total, { amountCents }) => total + amountCents, 0)),
  });

const tax = (rate: number) => ({ id: `t${rate}`, code: `t${rate}`, name: 'T', description: null, rate });
const invoice = (fees: [string, number, number][], coupons: ActiveCoupon[], isFinalizing = true) =>
  computeInvoice(
    newDraft({
      invoiceType: 'subscription',
      isFinalizing,
      keepsZeroAmount: true,
      fees: fees.map(([key, amount, rate]) => ({
        key,
        amountCents: cents(amount),
        preciseAmountCents: decimal(amount),
        taxes: rate < 0 ? [] : [tax(rate)],
      })),
      coupons: { currency: 'EUR', active: coupons },
    }),
  );
const sharesOf = (draft: ReturnType<typeof invoice>) =>
  draft.fees.map(({ preciseCouponsAmountCents }) => preciseCouponsAmountCents.toFixed());

describe('golden cases (golden-money.md)', () => {
  test('a coupon is shared among four fees (golden case 7)', () => {
    const draft = invoice(
      [
        ['a', 10000, 10],
        ['b', 5000, 0],
        ['c', 3000, 20],
        ['d', 2000, 20],
      ],
      [fixed(1000)],
    );
    expect(sharesOf(draft)).toEqual(['500', '250', '150', '100']);
    expect(draft.fees.map(({ taxesAmountCents }) => taxesAmountCents)).toEqual([950, 0, 570, 380]);
    expect([draft.taxesAmountCents, draft.totalAmountCents]).toEqual([1900, 20900]);
  });

  test('the second coupon takes what the first leaves (golden case 9)', () => {
    const draft = invoice([['a', 10000, 10]], [fixed(1000), fixed(11000, { id: 'second' })]);
    expect(draft.couponUses.map(({ amountCents, isUsedUp }) => [amountCents, isUsedUp])).toEqual([
      [1000, true],
      [9000, false],
    ]);
    expect([draft.taxesAmountCents, draft.taxesRate.toNumber(), draft.totalAmountCents]).toEqual([0, 10, 0]);
    expect([draft.status, draft.paymentStatus]).toEqual(['finalized', 'succeeded']);
  });

  test('coupons of 50 % and then 10 % apply one after the other (golden case 18)', () => {
    const draft = invoice([['a', 10000, -1]], [percentage('50'), percentage('10')]);
    expect(draft.couponUses.map(({ amountCents }) => amountCents)).toEqual([5000, 500]);
    expect(draft.subTotalExcludingTaxesAmountCents).toBe(4500);
  });

  test('a coupon of 12.5 % is rounded once (golden case 19)', () => {
    const draft = invoice(
      [
        ['a', 999, 19],
        ['b', 333, 19],
      ],
      [percentage('12.5')],
    );
    expect(draft.couponsAmountCents).toBe(167);
    expect(sharesOf(draft)).toEqual(['125.25', '41.75']);
    expect(draft.fees.map(({ taxesAmountCents }) => taxesAmountCents)).toEqual([166, 55]);
    expect([draft.taxesAmountCents, draft.totalAmountCents]).toEqual([221, 1386]);
  });

  test('a limited coupon reduces only fees of its metrics, or only fees of its plans', () => {
    const onMetrics = { limited_billable_metrics: true, plan_ids: ['p'], metric_ids: ['m'] };
    const onPlans = { limited_billable_metrics: false, plan_ids: ['p'], metric_ids: ['m'] };
    const fees = [
      { plan_id: 'p', metric_id: 'm' },
      { plan_id: 'q', metric_id: 'm' },
      { plan_id: 'p', metric_id: undefined },
      { plan_id: 'p', metric_id: 'n' },
      { plan_id: 'q', metric_id: undefined },
    ];
    expect(fees.map((fee) => mayReduce(onMetrics, fee))).toEqual([true, true, false, false, false]);
    expect(fees.map((fee) => mayReduce(onPlans, fee))).toEqual([true, false, true, true, false]);
  });

  test('coupons limited to metrics apply first, then those limited to plans, then the rest (golden case 20)', () => {
    const k1 = fixed(2000, { id: 'k1', limit: 'metrics', eligible: new Set(['bm1', 'bm2']) });
    const k2 = fixed(1000, { id: 'k2', limit: 'plans', eligible: new Set(['bm5', 'bm6', 'bm7', 'bm8']) });
    const k3 = fixed(500, { id: 'k3' });
    const draft = invoice(
      [
        ['bm1', 1000, 10],
        ['bm2', 2000, 20],
        ['bm3', 3000, 10],
        ['bm4', 4000, 10],
        ['bm5', 1000, 10],
        ['bm6', 2000, 20],
        ['bm7', 3000, 10],
        ['bm8', 4000, 10],
      ],
      [k3, k2, k1],
    );
    expect(draft.couponUses.map(({ coupon, base }) => [coupon.id, base.toFixed()])).toEqual([
      ['k1', '3000'],
      ['k2', '10000'],
      ['k3', '17000'],
    ]);
    expect(sharesOf(draft)).toEqual([
      '676.47059',
      '1352.94117',
      '88.23529',
      '117.64706',
      '126.47059',
      '252.94118',
      '379.41176',
      '505.88235',
    ]);
    expect(draft.fees.map(({ taxesAmountCents }) => taxesAmountCents)).toEqual([32, 129, 291, 388, 87, 349, 262, 349]);
    expect(draft).toMatchObject({
      couponsAmountCents: 3500,
      subTotalExcludingTaxesAmountCents: 16500,
      taxesAmountCents: 1889,
      totalAmountCents: 18389,
    });
  });

  test.each([
    // left  invoice  credit  used up
    [1000, 600, 600, false], // 21
    [400, 300, 300, false], // 22
    [100, 500, 100, true],
  ])('a one-time coupon with %i left meets an invoice of %i', (left, amount, credit, isUsedUp) => {
    expect(use([fixed(left)], [fee('a', amount)]).uses).toMatchObject([{ amountCents: credit, isUsedUp }]);
  });

  test('the unused part of a period of a recurring coupon is lost (golden case 23)', () => {
    let periodsLeft: number | null = 3;
    const seen = [600, 2000, 2000].map((amount) => {
      const [one] = use([fixed(1000, { frequency: 'recurring', periodsLeft })], [fee('a', amount)]).uses;
      periodsLeft = one!.periodsLeft;
      return [one!.amountCents, one!.isUsedUp];
    });
    expect(seen).toEqual([
      [600, false],
      [1000, false],
      [1000, true],
    ]);
  });

  test('a one-time percentage is used up by one invoice (golden case 24)', () => {
    expect(use([percentage('10')], [fee('a', 100)]).uses).toMatchObject([{ amountCents: 10, isUsedUp: true }]);
  });

  test('a coupon of 150 % acts as 100 % (golden case 25)', () => {
    expect(use([percentage('150', { frequency: 'forever' })], [fee('a', 999)]).uses).toMatchObject([
      { amountCents: 999, isUsedUp: false },
    ]);
  });

  test('a fixed coupon in another currency waits, and a percentage has no currency (golden case 26)', () => {
    expect(use([fixed(100)], [fee('a', 999)], 'USD').uses).toEqual([]);
    expect(use([percentage('10')], [fee('a', 1000)], 'USD').uses).toMatchObject([{ amountCents: 100 }]);
  });

  test('a coupon without an eligible fee uses up no period (golden case 27)', () => {
    expect(use([fixed(100, { limit: 'metrics', eligible: new Set(['b']) })], [fee('a', 999)]).uses).toEqual([]);
  });

  test('two coupons of 1000 are shared among three fees (golden case 32)', () => {
    const draft = invoice(
      [
        ['a', 99290, 10],
        ['b', 299770, 10],
        ['c', 1999, 10],
        ['d', 12720, 10],
      ],
      [fixed(1000), fixed(1000)],
    );
    expect(sharesOf(draft).slice(0, 3)).toEqual(['479.91802', '1448.93772', '9.66216']);
    expect([draft.couponsAmountCents, draft.taxesAmountCents, draft.totalAmountCents]).toEqual([2000, 41178, 452957]);
  });

  test('a coupon applies after progressive credits, and tax is 1920 on 9600 (G65)', () => {
    const fallen = new Map();
    const billed = { progressiveInvoiceId: 'p', amountCents: cents(3000), excessCents: cents(0), fallen };
    const draft = computeInvoice(
      newDraft({
        invoiceType: 'subscription',
        isFinalizing: true,
        keepsZeroAmount: true,
        fees: [
          { key: 's', amountCents: cents(10000), preciseAmountCents: decimal(10000), taxes: [tax(20)] },
          { key: 'c', amountCents: cents(5000), preciseAmountCents: decimal(5000), taxes: [tax(20)] },
        ],
        progressiveCredits: [{ ...billed, shares: new Map([['c', decimal(3000)]]), parts: new Map() }],
        coupons: { currency: 'EUR', active: [percentage('20')] },
      }),
    );
    expect(sharesOf(draft)).toEqual(['2000', '3400']);
    expect(draft).toMatchObject({
      couponsAmountCents: 2400,
      subTotalExcludingTaxesAmountCents: 9600,
      taxesAmountCents: 1920,
      subTotalIncludingTaxesAmountCents: 11520,
    });
  });

  test('an invoice that waits for its taxes stops before them with its coupons applied', () => {
    const draft = computeInvoice(
      newDraft({
        invoiceType: 'subscription',
        isFinalizing: true,
        keepsZeroAmount: true,
        awaitsTaxes: true,
        fees: [{ key: 's', amountCents: cents(10000), preciseAmountCents: decimal(10000), taxes: [] }],
        coupons: { currency: 'EUR', active: [percentage('20')] },
        creditNotes: [{ id: 'n', balanceCents: cents(500) }],
      }),
    );
    expect(draft).toMatchObject({
      status: 'pending',
      couponsAmountCents: 2000,
      taxesAmountCents: 0,
      appliedTaxes: [],
      creditNoteUses: [],
    });
  });

  test('a coupon of 100 % leaves a finalized invoice with a total of 0 (G67)', () => {
    expect(invoice([['a', 5000, 20]], [percentage('100')])).toMatchObject({
      status: 'finalized',
      totalAmountCents: 0,
      paymentStatus: 'succeeded',
    });
  });
});

test('a draft shows its amounts before coupons, and an invoice of zero uses no coupon', () => {
  expect(invoice([['a', 5000, 20]], [fixed(100)], false).couponUses).toEqual([]);
  expect(invoice([['a', 0, 20]], [fixed(100)]).couponUses).toEqual([]);
});

const someFees = fc
  .array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 12 })
  .map((amounts) => amounts.map((amount, index) => fee(String(index), amount)));
const someCoupon = fc
  .record({
    amount: fc.integer({ min: 0, max: 2_000_000 }),
    percent: fc.option(fc.integer({ min: 0, max: 20_000 })),
    eligible: fc.option(fc.uniqueArray(fc.integer({ min: 0, max: 11 }).map(String))),
  })
  .map(({ amount, percent, eligible }) => {
    const limits = eligible === null ? {} : { limit: 'metrics' as const, eligible: new Set(eligible) };
    return percent === null ? fixed(amount, limits) : percentage(decimal(percent).div(100).toFixed(), limits);
  });

describe('laws of coupons', () => {
  test('the shares of a coupon sum to the coupon except for the fifth decimal of each', () => {
    fc.assert(
      fc.property(someFees, fc.array(someCoupon, { maxLength: 5 }), (fees, coupons) => {
        const isWhole = coupons.every(({ limit }) => limit === 'none');
        for (const { amountCents, shares } of use(coupons, fees).uses) {
          const split = sum([...shares.values()].map(({ amount }) => amount));
          // Limited ones are rounded to whole cents over bases with decimals: half a cent each.
          const rounded = isWhole ? ZERO : decimal('0.5').times(coupons.length);
          const tolerance = decimal('0.00001').times(shares.size).times(coupons.length).plus(rounded);
          expect(split.minus(amountCents).abs().lte(tolerance)).toBe(true);
        }
      }),
    );
  });

  test('no fee gives more than its amount, and no invoice more than its fees', () => {
    fc.assert(
      fc.property(someFees, fc.array(someCoupon, { maxLength: 5 }), (fees, coupons) => {
        const done = use(coupons, fees);
        for (const { amountCents, preciseCouponsAmountCents: off } of done.fees)
          expect(off.gte(0) && off.lte(amountCents)).toBe(true);
        const total = fees.reduce((sumSoFar, { amountCents }) => sumSoFar + amountCents, 0);
        expect(done.uses.reduce((sumSoFar, { amountCents }) => sumSoFar + amountCents, 0)).toBeLessThanOrEqual(total);
      }),
    );
  });
});

test('coupons and applied coupons move between their states as allowed', () => {
  expect([canCouponMove('active', 'terminated'), canCouponMove('terminated', 'active')]).toEqual([true, false]);
  expect([canCouponMove('active', 'active'), canCouponMove('terminated', 'terminated')]).toEqual([false, false]);
  expect([canAppliedCouponMove('active', 'terminated'), canAppliedCouponMove('terminated', 'active')]).toEqual([
    true,
    true,
  ]);
  expect([canAppliedCouponMove('active', 'active'), canAppliedCouponMove('terminated', 'terminated')]).toEqual([
    false,
    false,
  ]);
});
