import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { consumeCredits, splitOf } from '../../../src/engine/credits/wallet-funding.ts';
import { isTopUpDay, nextTopUpDay } from '../../../src/engine/credits/wallet-interval.ts';
import { bookedCredits, voidedCredits } from '../../../src/engine/credits/wallet-money.ts';
import { type PayableFee, payWithWallets } from '../../../src/engine/credits/wallet-payment.ts';
import {
  isBelowThreshold,
  type TopUpRule,
  type TopUpState,
  topUpOf,
} from '../../../src/engine/credits/wallet-top-up.ts';
import { spreadUsage } from '../../../src/engine/credits/wallet-usage.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal, ZERO } from '../../../src/engine/money/decimal.ts';

describe('credits to money (wallets.md#credits-to-money)', () => {
  test.each([
    // request                      rate      digits  cents   credits
    ['17.9699999999999988631316', '1', 2, 1797, '17.97'],
    ['10', '0.33', 2, 330, '10'],
    ['3.333', '0.3', 2, 100, '3.33333'],
    ['7', '0.0333', 2, 23, '6.90691'],
    ['0.009', '0.5', 2, 0, '0'],
    ['100', '100', 0, 10000, '100'],
  ])('%s credits at a rate of %s have the right amount', (request, rate, exponent, amountCents, credits) => {
    const booked = bookedCredits(decimal(request), { rate: decimal(rate), exponent });
    expect(booked.amountCents).toBe(amountCents);
    expect(booked.credits.toFixed()).toBe(credits);
  });

  test('voided credits are not rounded', () => {
    const voided = voidedCredits(decimal('14.28444999'), { rate: decimal(1), exponent: 2 });
    expect(voided.amountCents).toBe(1428);
    expect(voided.credits.toFixed()).toBe('14.28444');
  });
});

describe('traceability (wallets.md#traceability)', () => {
  const open = (id: string, remaining: number, purchased: number) => ({
    id,
    remainingCents: cents(remaining),
    remainingPurchasedCents: cents(purchased),
  });

  test('granted credits are used before purchased ones (golden case 60)', () => {
    const taken = consumeCredits([open('g', 3000, 0), open('p', 7000, 7000)], cents(8000))!;
    expect(taken.map(({ id, amountCents }) => [id, amountCents])).toEqual([
      ['g', 3000],
      ['p', 5000],
    ]);
    expect(splitOf(taken)).toEqual({ grantedCents: 3000, purchasedCents: 5000 });
  });

  test('restored credits are used with the granted part first', () => {
    expect(splitOf(consumeCredits([open('back', 600, 400)], cents(300))!)).toEqual({
      grantedCents: 200,
      purchasedCents: 100,
    });
  });

  test('property: funding takes exactly what is requested, or nothing when there is less', () => {
    const rows = fc.array(fc.tuple(fc.nat(5000), fc.nat(5000)), { maxLength: 8 });
    fc.assert(
      fc.property(rows, fc.nat(20_000), (given, asked) => {
        const credits = given.map(([rest, bought], index) => open(String(index), rest, Math.min(rest, bought)));
        const whole = credits.reduce((total, { remainingCents }) => total + remainingCents, 0);
        const taken = consumeCredits(credits, cents(asked));
        if (asked > whole) return taken === undefined;
        const { grantedCents, purchasedCents } = splitOf(taken!);
        return (
          grantedCents + purchasedCents === asked &&
          taken!.every(({ id, amountCents, purchasedCents: bought }) => {
            const from = credits[Number(id)]!;
            return amountCents > 0 && amountCents <= from.remainingCents && bought <= from.remainingPurchasedCents;
          })
        );
      }),
    );
  });
});

const fee = (
  feeType: string,
  amount: number,
  tax: string | number,
  key: { metric?: string; target?: string } = {},
): PayableFee => ({
  walletKey: { feeType, billableMetricId: key.metric ?? null, targetWalletCode: key.target ?? null },
  amountCents: cents(amount),
  preciseCouponsAmountCents: ZERO,
  taxesPreciseAmountCents: decimal(tax),
  preciseCreditNotesAmountCents: ZERO,
});
const wallet = (id: string, balance: number, limits: { feeTypes?: string[]; billableMetricIds?: string[] } = {}) => ({
  id,
  code: id,
  balanceCents: cents(balance),
  feeTypes: limits.feeTypes ?? [],
  billableMetricIds: limits.billableMetricIds ?? [],
});
const paid = (fees: PayableFee[], total: number, wallets: ReturnType<typeof wallet>[]) =>
  payWithWallets({ fees, totalCents: cents(total), wallets }).map(({ walletId, amountCents }) => [
    walletId,
    amountCents,
  ]);

describe('paying an invoice (wallets.md#paying-an-invoice)', () => {
  test('wallets pay in their order (golden case 61)', () => {
    const wallets = [wallet('a', 2000), wallet('b', 2500), wallet('c', 2500), wallet('d', 3000)];
    expect(paid([fee('subscription', 8000, 0)], 8000, wallets)).toEqual([
      ['a', 2000],
      ['b', 2500],
      ['c', 2500],
      ['d', 1000],
    ]);
  });

  test('six wallets pay what their limits allow (golden case 62)', () => {
    const wallets = [
      wallet('a', 1000),
      wallet('b', 1000, { feeTypes: ['charge'] }),
      wallet('c', 1000, { feeTypes: ['subscription'] }),
      wallet('d', 1000),
      wallet('e', 1000, { feeTypes: ['charge'] }),
      wallet('f', 1000, { feeTypes: ['subscription'] }),
    ];
    expect(paid([fee('subscription', 3500, 100), fee('charge', 1500, 50)], 5150, wallets)).toEqual([
      ['a', 1000],
      ['b', 1000],
      ['c', 1000],
      ['d', 1000],
      ['e', 550],
      ['f', 600],
    ]);
  });

  test('a wallet limited to a metric pays what it holds (golden case 63)', () => {
    const wallets = [wallet('m', 66, { billableMetricIds: ['api'] })];
    expect(paid([fee('charge', 60, '8.456', { metric: 'api' }), fee('subscription', 500, 0)], 568, wallets)).toEqual([
      ['m', 66],
    ]);
  });

  test('a wallet pays with the roundings of wallets.md#paying-an-invoice (golden cases 64, 65)', () => {
    const eight = Array.from({ length: 8 }, (_, index) => fee('charge', 1, '0.56', { metric: `m${index}` }));
    expect(paid(eight, 11, [wallet('w', 1000)])).toEqual([['w', 11]]);
    const small = [
      ...[0, 1].map((index) => fee('charge', 1, '0.4', { metric: `l${index}` })),
      ...[0, 1, 2, 3, 4, 5].map((index) => fee('charge', 0, '0.16', { metric: `s${index}` })),
    ];
    expect(paid(small, 3, [wallet('w', 10000)])).toEqual([['w', 3]]);
    const two = [fee('subscription', 50000, '3412.7'), fee('subscription', 50000, '3412.7')];
    expect(paid(two, 106826, [wallet('w', 200_000)])).toEqual([['w', 106826]]);
  });

  test('usage that names a wallet is paid by that wallet alone (golden case 92)', () => {
    const fees = [fee('charge', 15000, 0, { target: 'W1' }), fee('charge', 20000, 0, { target: 'W2' })];
    expect(paid(fees, 35000, [wallet('W1', 20000), wallet('W2', 25000)])).toEqual([
      ['W1', 15000],
      ['W2', 20000],
    ]);
    expect(paid([fee('charge', 100, 0, { target: 'nobody' })], 100, [wallet('W1', 20000)])).toEqual([]);
  });

  test('property: wallets pay neither more than the invoice nor more than they hold', () => {
    const fees = fc.array(fc.tuple(fc.nat(3000), fc.nat(999), fc.constantFrom('a', 'b', 'c')), { maxLength: 6 });
    const wallets = fc.array(fc.tuple(fc.nat(3000), fc.subarray(['a', 'b', 'c'])), { maxLength: 6 });
    fc.assert(
      fc.property(fees, wallets, (given, held) => {
        const total = given.reduce((sum, [amount, tax]) => sum + amount + Math.floor(tax / 100), 0);
        const payments = payWithWallets({
          fees: given.map(([amount, tax, metric]) => fee('charge', amount, `${tax / 100}`, { metric })),
          totalCents: cents(total),
          wallets: held.map(([balance, metrics], index) =>
            wallet(String(index), balance, { billableMetricIds: metrics }),
          ),
        });
        const sum = payments.reduce((all, { amountCents }) => all + amountCents, 0);
        return sum <= total && payments.every(({ walletId, amountCents }) => amountCents <= held[Number(walletId)]![0]);
      }),
    );
  });
});

describe('ongoing usage (top-ups.md#ongoing-balance)', () => {
  const used = (metric: string, amount: number) => ({
    key: { feeType: 'charge', billableMetricId: metric, targetWalletCode: null },
    amountCents: cents(amount),
  });
  const watched = (id: string, balance: number, metrics: string[] = [], isRefilled = false) => ({
    ...wallet(id, balance, { billableMetricIds: metrics }),
    isRefilled,
  });

  test('ongoing usage spills over to the next wallet and overdraws the last fitting one', () => {
    const wallets = [
      watched('W1', 1000, ['storage', 'seats']),
      watched('W2', 2000, ['seats', 'api']),
      watched('W3', 3000, ['api', 'sms']),
      watched('W4', 4000, ['sms', 'storage']),
    ];
    const amounts = [used('storage', 1000), used('seats', 2000), used('api', 3000), used('sms', 4000)];
    expect([...spreadUsage(amounts, wallets).values()]).toEqual([1000, 3000, 4000, 2000]);
  });

  test('a refilled wallet takes all ongoing usage, and billed usage is subtracted', () => {
    const wallets = [watched('a', 100, [], true), watched('b', 5000)];
    expect([...spreadUsage([used('x', 900), used('x', -400), used('y', 300)], wallets).values()]).toEqual([800, 0]);
    expect([...spreadUsage([used('x', 900), used('y', -1000)], wallets).values()]).toEqual([0, 0]);
  });
});

describe('recurring rules (top-ups.md#recurring-rules)', () => {
  const rule = (fields: Partial<TopUpRule>): TopUpRule => ({
    trigger: 'threshold',
    method: 'fixed',
    thresholdCredits: decimal(10),
    paidCredits: decimal(50),
    grantedCredits: ZERO,
    targetOngoingBalance: null,
    grantsTargetTopUp: false,
    ignoresLimits: false,
    ...fields,
  });
  const state = (ongoing: string, fields: Partial<TopUpState> = {}): TopUpState => ({
    rate: decimal(1),
    exponent: 2,
    ongoingCredits: decimal(ongoing),
    pendingCredits: ZERO,
    minAmountCents: null,
    maxAmountCents: null,
    ...fields,
  });

  test.each([
    // ongoing   pending granted max     paid
    ['-429.8', '0', '0', null, '450'],
    ['-50', '0', '0', null, '100'],
    ['-100', '0', '0', null, '150'],
    ['-429.8', '50', '0', null, '400'],
    ['-429.8', '0', '50', null, '400'],
    ['-429.8', '0', '0', 10000, '100'],
    ['5', '0', '0', null, '50'],
  ])(
    'a rule with ongoing %s, pending %s, granted %s, at most %s buys %s',
    (ongoing, pending, granted, most, expected) => {
      const asked = state(ongoing, {
        pendingCredits: decimal(pending),
        maxAmountCents: most === null ? null : cents(most),
      });
      expect(topUpOf(rule({ grantedCredits: decimal(granted) }), asked).paidCredits.toFixed()).toBe(expected);
    },
  );

  test('a rule with a target buys up to it, at least the minimum, or grants the credits (golden case 69)', () => {
    const target = rule({ method: 'target', targetOngoingBalance: decimal(10), thresholdCredits: decimal(5) });
    const asked = state('4', { minAmountCents: cents(5000) });
    expect(topUpOf(target, asked).paidCredits.toFixed()).toBe('50');
    expect(topUpOf({ ...target, grantsTargetTopUp: true }, asked).grantedCredits.toFixed()).toBe('6');
    expect(topUpOf(target, state('10')).paidCredits.toFixed()).toBe('0');
  });

  test('a threshold rule buys at its threshold unless enough is pending', () => {
    expect(isBelowThreshold(rule({}), state('10'))).toBe(true);
    expect(isBelowThreshold(rule({}), state('10.1'))).toBe(false);
    expect(isBelowThreshold(rule({}), state('4', { pendingCredits: decimal(50) }))).toBe(false);
  });

  const day = (text: string) => Temporal.PlainDate.from(text);
  test('a monthly rule from 31 January tops up on the last day of shorter months (golden case 70)', () => {
    const days = ['2023-02-01', '2023-03-01', '2023-04-01'].map((from) =>
      nextTopUpDay('monthly', day('2023-01-31'), day(from)).toString(),
    );
    expect(days).toEqual(['2023-02-28', '2023-03-31', '2023-04-30']);
  });

  test.each([
    ['yearly', '2024-02-29', 'tops up', '2025-02-28'],
    ['yearly', '2024-02-29', 'does not top up', '2028-02-28'],
    ['quarterly', '2024-01-15', 'tops up', '2024-04-15'],
    ['quarterly', '2024-01-15', 'does not top up', '2024-03-15'],
    ['semiannual', '2024-08-31', 'tops up', '2025-02-28'],
    ['weekly', '2024-01-03', 'tops up', '2024-01-10'],
    ['monthly', '2024-01-15', 'does not top up', '2023-12-15'],
  ] as const)('a %s rule from %s %s on %s', (interval, start, verb, on) => {
    expect(isTopUpDay(interval, day(start), day(on))).toBe(verb === 'tops up');
  });
});
