import { describe, expect, test } from 'vitest';
import { boundaryWindows, lineWindows } from '../../../src/engine/calendar/windows.ts';
import {
  bearsSubscriptionFee,
  type SubscriptionFeeInput,
  subscriptionFee,
} from '../../../src/engine/subscriptions/subscription-fee.ts';
import { instant, plan, subscription } from '../calendar/build.ts';

interface Case {
  amount: number;
  plan?: Partial<SubscriptionFeeInput['plan']>;
  started: string;
  at: string;
  zone?: string;
  billing?: 'calendar' | 'anniversary';
  subscription?: Partial<SubscriptionFeeInput['subscription']>;
  facts?: Partial<SubscriptionFeeInput>;
}

/** A line's subscription fee as a caller computes it: windows first, then the fee. */
function input({ amount, started, at, zone = 'UTC', billing = 'calendar', ...changes }: Case): SubscriptionFeeInput {
  const start = subscription(started, { billing_time: billing });
  const row = {
    ...start,
    status: 'active' as const,
    created_at: start.started_at,
    trial_ended_at: null,
    ...changes.subscription,
  };
  const terms = { ...plan(changes.plan), trial_period: null, ...changes.plan, amount_cents: amount };
  const succession = changes.facts?.succession ?? 'none';
  const { subscription: window } = lineWindows({ plan: terms, subscription: row, zone, at: instant(at), succession });
  return {
    plan: terms,
    subscription: row,
    zone,
    at: instant(at),
    window,
    succession,
    predecessor: 'none',
    firstStartedAt: row.started_at,
    invoiceCreatedAt: instant(at),
    isOnlyInvoice: true,
    hasOlderFee: false,
    hasFeeOfSameDay: false,
    isOnlyForFixedCharges: false,
    ...changes.facts,
  };
}

const fee = (given: Case) => {
  const result = subscriptionFee(input(given));
  return result === undefined
    ? undefined
    : { cents: result.amountCents, days: `${result.billedDays}/${result.periodDays}` };
};
const advance = { pay_in_advance: true };
const ended = (at: string) => ({ status: 'terminated' as const, terminated_at: instant(at) });

describe('worked amounts (subscription-fees.md#worked-amounts) and starts (G01–G17)', () => {
  test.each<[string, Case, number, string]>([
    ['G01 monthly in advance', { amount: 1000, plan: advance, started: '2024-03-05', at: '2024-03-05' }, 871, '27/31'],
    [
      'G02 monthly in advance, anniversary',
      { amount: 1000, plan: advance, started: '2024-03-05', at: '2024-03-05', billing: 'anniversary' },
      1000,
      '31/31',
    ],
    [
      'G03 monthly in advance, a later run',
      { amount: 700, plan: advance, started: '2023-06-16', at: '2024-02-01', facts: { hasOlderFee: true } },
      700,
      '29/29',
    ],
    [
      'G04 weekly, Thursday in Denver',
      {
        amount: 700,
        plan: { ...advance, interval: 'weekly' },
        started: '2023-06-16T05:00Z',
        at: '2023-06-16T05:00Z',
        zone: 'America/Denver',
      },
      400,
      '4/7',
    ],
    [
      'G05 weekly, Friday in Halifax',
      {
        amount: 700,
        plan: { ...advance, interval: 'weekly' },
        started: '2023-06-16T05:00Z',
        at: '2023-06-16T05:00Z',
        zone: 'America/Halifax',
      },
      300,
      '3/7',
    ],
    [
      'G06 weekly, Friday in Paris',
      {
        amount: 700,
        plan: { ...advance, interval: 'weekly' },
        started: '2023-06-16T20:00Z',
        at: '2023-06-16T20:00Z',
        zone: 'Europe/Paris',
      },
      300,
      '3/7',
    ],
    [
      'G07 weekly, Saturday in Karachi',
      {
        amount: 700,
        plan: { ...advance, interval: 'weekly' },
        started: '2023-06-16T20:00Z',
        at: '2023-06-16T20:00Z',
        zone: 'Asia/Karachi',
      },
      200,
      '2/7',
    ],
    [
      'G08 anniversary in arrears, first',
      { amount: 1000, started: '2024-01-31T01:00', at: '2024-02-29T02:00', billing: 'anniversary' },
      1000,
      '29/29',
    ],
    [
      'G08 anniversary in arrears, second',
      {
        amount: 1000,
        started: '2024-01-31T01:00',
        at: '2024-03-31T02:00',
        billing: 'anniversary',
        facts: { hasOlderFee: true, isOnlyInvoice: false },
      },
      1000,
      '31/31',
    ],
    ['G11 in arrears from the 15th', { amount: 3100, started: '2024-01-15', at: '2024-02-01' }, 1700, '17/31'],
    [
      'G12 past start in arrears',
      { amount: 3100, started: '2023-11-15', at: '2024-02-01', subscription: { created_at: instant('2024-01-20') } },
      3100,
      '31/31',
    ],
    [
      'G13 past start in advance',
      {
        amount: 3100,
        plan: advance,
        started: '2023-11-15',
        at: '2024-02-01',
        subscription: { created_at: instant('2024-01-20') },
      },
      3100,
      '29/29',
    ],
    [
      'past start inside the billed period',
      { amount: 3100, started: '2024-01-05', at: '2024-02-01', subscription: { created_at: instant('2024-01-20') } },
      2700,
      '27/31',
    ],
    [
      'G17 yearly with monthly charges, at the year',
      {
        amount: 12000,
        plan: { interval: 'yearly', bill_charges_monthly: true },
        started: '2024-01-31',
        at: '2025-01-31',
        billing: 'anniversary',
      },
      12000,
      '366/366',
    ],
    [
      'terminated in its first days',
      { amount: 1000, started: '2022-12-15', at: '2022-12-20T12:00', subscription: ended('2022-12-20T12:00') },
      194,
      '6/31',
    ],
    [
      'G30 ended at midnight',
      {
        amount: 1000,
        started: '2023-09-05',
        at: '2023-09-06',
        billing: 'anniversary',
        subscription: ended('2023-09-06'),
      },
      67,
      '2/30',
    ],
    [
      'G32 ended on the day of its start',
      {
        amount: 1000,
        started: '2023-09-05',
        at: '2023-09-05T05:00',
        billing: 'anniversary',
        subscription: ended('2023-09-05T05:00'),
      },
      33,
      '1/30',
    ],
    [
      'G36 ended on a billing day',
      {
        amount: 1000,
        started: '2023-08-01',
        at: '2023-10-01T15:00',
        subscription: ended('2023-10-01T15:00'),
        facts: { hasOlderFee: true },
      },
      32,
      '1/31',
    ],
    [
      'quarterly after an upgrade, ended',
      {
        amount: 91000,
        plan: { interval: 'quarterly' },
        started: '2024-05-20',
        at: '2024-06-20T10:00',
        billing: 'anniversary',
        subscription: { ...ended('2024-06-20T10:00'), subscription_at: instant('2024-01-15') },
        facts: { predecessor: 'upgrade' },
      },
      32000,
      '32/91',
    ],
    [
      'quarterly calendar, ended',
      {
        amount: 91000,
        plan: { interval: 'quarterly' },
        started: '2024-05-20',
        at: '2024-06-20T10:00',
        subscription: ended('2024-06-20T10:00'),
      },
      32000,
      '32/91',
    ],
    [
      'yearly in advance after an upgrade',
      {
        amount: 12000,
        plan: { ...advance, interval: 'yearly' },
        started: '2023-09-28T05:00',
        at: '2023-09-28T05:00:01',
        billing: 'anniversary',
        subscription: { subscription_at: instant('2023-06-29') },
        facts: { predecessor: 'upgrade' },
      },
      9016,
      '275/366',
    ],
    [
      'G45 yearly in advance after a downgrade',
      {
        amount: 118800,
        plan: { ...advance, interval: 'yearly' },
        started: '2023-11-19T00:10',
        at: '2023-11-19T00:10',
        billing: 'anniversary',
        subscription: { subscription_at: instant('2023-07-19') },
        facts: { predecessor: 'downgrade' },
      },
      78875,
      '243/366',
    ],
    [
      'upgraded away',
      {
        amount: 2900,
        started: '2023-11-03',
        at: '2024-02-12T09:00:01',
        subscription: ended('2024-02-12T09:00'),
        facts: { succession: 'upgrade', hasOlderFee: true },
      },
      1100,
      '11/29',
    ],
    [
      'in advance from an upgrade',
      {
        amount: 29000,
        plan: advance,
        started: '2024-02-12T09:00',
        at: '2024-02-12T09:00:01',
        facts: { predecessor: 'upgrade' },
      },
      18000,
      '18/29',
    ],
    [
      'G51 after an upgrade of the day, ended',
      {
        amount: 2000,
        started: '2024-04-24T11:00',
        at: '2024-04-26T11:00',
        subscription: ended('2024-04-26T11:00'),
        facts: { predecessor: 'upgrade' },
      },
      200,
      '3/30',
    ],
    [
      'G62 downgraded: a full last period',
      {
        amount: 10000,
        started: '2024-02-28',
        at: '2024-06-01T00:10',
        subscription: ended('2024-06-01T00:10'),
        facts: { succession: 'downgrade', hasOlderFee: true },
      },
      10000,
      '31/31',
    ],
  ])('a subscription fee is billed for its days: %s', (_name, given, cents, share) => {
    expect(fee(given)).toEqual({ cents, days: share });
  });

  test.each([
    ['G33 anniversary', '2023-09-05', '2023-10-05T00:05', 'anniversary', '30/30'],
    ['G35 calendar', '2023-08-01', '2023-10-01T00:05', 'calendar', '30/30'],
  ] as const)(
    '%s: an end on a billing day that the run left out bills the whole past period',
    (_name, started, at, billing, days) => {
      const given = input({ amount: 1000, started, at, billing, subscription: ended(at) });
      const result = subscriptionFee({ ...given, window: boundaryWindows(given)!.subscription })!;
      expect([result.amountCents, `${result.billedDays}/${result.periodDays}`]).toEqual([1000, days]);
    },
  );

  test('a subscription fee is one unit, keeps the plan amount and has 15 decimals', () => {
    const result = subscriptionFee(input({ amount: 1000, plan: advance, started: '2024-03-05', at: '2024-03-05' }))!;
    expect(result.preciseAmountCents.toFixed()).toBe('870.967741935483871');
    expect([result.units, result.unitAmountCents]).toEqual([1, 871]);
    expect(result.amountDetails).toEqual({ plan_amount_cents: 1000 });
  });
});

describe('trial (subscription-fees.md#trial)', () => {
  const trial = (days: number | string, changes: Partial<Case> = {}): Case => ({
    amount: 5_000_000,
    plan: { ...advance, trial_period: days },
    started: '2024-03-05T12:12',
    at: '2024-03-05T12:12',
    ...changes,
  });

  test.each<[string, Case, number, string]>([
    ['G22 ends inside the first period', trial(10, { at: '2024-03-15T12:35' }), 2_741_935, '17/31'],
    ['G24 ends in the second', trial(45, { at: '2024-04-19T12:35' }), 2_000_000, '12/30'],
    [
      'G26 ends later on the billing day',
      trial('31.541666666666666667', { started: '2024-02-29T12:12', at: '2024-03-31T22:10', zone: 'Europe/Paris' }),
      5_000_000,
      '30/30',
    ],
    [
      'G27 ends the day after it',
      trial(30, { started: '2024-03-02T18:12', at: '2024-04-01T18:35', zone: 'Asia/Tokyo' }),
      4_833_333,
      '29/30',
    ],
    [
      'G23 the upgraded plan',
      trial(13, {
        amount: 10_000_000,
        started: '2024-03-10T13:00',
        at: '2024-03-18T13:35',
        facts: { firstStartedAt: instant('2024-03-05T12:12'), predecessor: 'upgrade' },
      }),
      4_516_129,
      '14/31',
    ],
  ])('a trial shortens the subscription fee: %s', (_name, given, cents, share) => {
    expect(fee(given)).toEqual({ cents, days: share });
  });

  test.each<[string, Case]>([
    ['at the start', trial(10)],
    ['a period that it covers', trial(45, { at: '2024-04-01T00:10' })],
    [
      'G27 the run before its last day',
      trial(30, { started: '2024-03-02T18:12', at: '2024-03-31T15:10', zone: 'Asia/Tokyo' }),
    ],
  ])('a trial leaves no subscription fee: %s', (_name, given) => {
    expect(fee(given)).toBeUndefined();
  });

  test('a full period in advance is shortened by the trial too', () => {
    const given = trial(10, { billing: 'anniversary', at: '2024-03-15T12:35' });
    expect(fee(given)).toEqual({ cents: 3_387_097, days: '21/31' });
  });

  test('a plan in arrears whose trial covers the window bills 0 once the trial is over', () => {
    const given = trial(20, { plan: { trial_period: 20 }, started: '2024-03-12', at: '2024-04-01T00:10' });
    expect(fee(given)).toEqual({ cents: 0, days: '0/31' });
  });

  test('a trial of 0 days has no effect', () => {
    expect(fee(trial(0))?.days).toBe('27/31');
  });

  test('a second subscription of the same external id does not restart the trial', () => {
    const given = trial(7, {
      amount: 3500,
      started: '2024-03-11T23:05',
      at: '2024-03-11T23:05',
      facts: { firstStartedAt: instant('2024-03-04T21:00') },
    });
    expect(fee(given)).toEqual({ cents: 2371, days: '21/31' });
  });
});

describe('lines without a subscription fee (subscription-fees.md#when-a-line-gets-a-fee)', () => {
  const yearly = { ...advance, interval: 'yearly' as const, bill_charges_monthly: true };
  const monthly: Case = { amount: 1000, plan: advance, started: '2024-03-05', at: '2024-04-01' };

  test.each<[string, Case]>([
    ['in advance, billed the same day', { ...monthly, facts: { hasFeeOfSameDay: true } }],
    ['made only for fixed charges', { ...monthly, plan: {}, facts: { isOnlyForFixedCharges: true } }],
    ['in advance, terminated', { ...monthly, subscription: ended('2024-04-01') }],
    ['of a canceled subscription', { ...monthly, subscription: { status: 'canceled' } }],
    [
      'G16 yearly in arrears, a later month',
      {
        amount: 12000,
        plan: { interval: 'yearly', bill_charges_monthly: true },
        started: '2024-01-31',
        at: '2024-02-29',
        billing: 'anniversary',
      },
    ],
    [
      'yearly in advance, a later month',
      {
        amount: 12000,
        plan: yearly,
        started: '2024-01-31',
        at: '2024-02-29',
        billing: 'anniversary',
        facts: { hasOlderFee: true },
      },
    ],
    [
      'yearly in advance from the past, its first period',
      {
        amount: 12000,
        plan: yearly,
        started: '2024-01-10',
        at: '2024-02-01',
        subscription: { created_at: instant('2024-01-20') },
      },
    ],
  ])('a line has no subscription fee: %s', (_name, given) => {
    expect(bearsSubscriptionFee(input(given))).toBe(false);
  });

  test.each<[string, Case]>([
    ['arrears, billed the same day', { ...monthly, plan: {}, facts: { hasFeeOfSameDay: true } }],
    ['of an incomplete subscription', { ...monthly, subscription: { status: 'incomplete' } }],
    ['in advance, terminated after the invoice', { ...monthly, subscription: ended('2024-04-02') }],
    ['yearly in advance, never billed', { amount: 12000, plan: yearly, started: '2024-03-10', at: '2024-03-10' }],
    [
      'yearly in advance from the past, its second period',
      {
        amount: 12000,
        plan: yearly,
        started: '2024-01-10',
        at: '2025-01-01',
        subscription: { created_at: instant('2024-01-20') },
      },
    ],
    [
      'yearly in arrears, terminated in a later month',
      {
        amount: 12000,
        plan: { interval: 'yearly', bill_charges_monthly: true },
        started: '2024-01-31',
        at: '2024-03-15',
        subscription: ended('2024-03-15'),
      },
    ],
  ])('a line has a subscription fee: %s', (_name, given) => {
    expect(bearsSubscriptionFee(input(given))).toBe(true);
  });
});
