import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { billingDayAfter, billingDayFrom, isBillingDay } from '../../../src/engine/calendar/billing-day.ts';
import { BILLING_TIMES, INTERVALS } from '../../../src/engine/calendar/grid.ts';
import { dayStart } from '../../../src/engine/calendar/local-day.ts';
import { isEmpty, type Period, shownEnd, shownStart } from '../../../src/engine/calendar/period.ts';
import type { PlanTerms } from '../../../src/engine/calendar/terms.ts';
import { boundaryWindows, currentBillingPeriod, lineWindows } from '../../../src/engine/calendar/windows.ts';
import { date, instant, plan, subscription } from './build.ts';

const UTC = 'UTC';
const shown = (period: Period | null) =>
  period === null
    ? null
    : isEmpty(period)
      ? `empty at ${short(period.from)}`
      : `${short(shownStart(period))} – ${short(shownEnd(period))}`;
const short = (at: { toString(): string }) => at.toString().replace(/:00Z$/, '').replace(/Z$/, '');
const days = (first: string, last: string) =>
  `${first.includes('T') ? first : `${first}T00:00`} – ${last.includes('T') ? last : `${last}T23:59:59`}`;

const YEAR = days('2024-01-31T01:00', '2025-01-30');
const JAN_31 = subscription('2024-01-31T01:00');

describe('windows of a line (billing-periods.md#examples)', () => {
  test.each<[string, Partial<PlanTerms>, string, string, string | null, string | null]>([
    // plan, started, run → subscription, charges, fixed charges
    ['1', {}, '2024-02-29T02:00', days('2024-01-31', '2024-02-28'), days('2024-01-31T01:00', '2024-02-28'), '='],
    ['2', {}, '2024-03-31', days('2024-02-29', '2024-03-30'), days('2024-02-29', '2024-03-30'), '='],
    ['G08', {}, '2024-04-30', days('2024-03-31', '2024-04-29'), days('2024-03-31', '2024-04-29'), '='],
    ['6', { interval: 'yearly' }, '2025-01-31', days('2024-01-31', '2025-01-30'), YEAR, '='],
    [
      '7',
      { interval: 'yearly', bill_charges_monthly: true },
      '2024-02-29',
      '2024-01-31T00:00 – 2024-01-31T01:00',
      days('2024-01-31T01:00', '2024-02-28'),
      null,
    ],
    [
      '8',
      { interval: 'yearly', bill_charges_monthly: true },
      '2025-01-31',
      days('2024-01-31', '2025-01-30'),
      days('2024-12-31', '2025-01-30'),
      YEAR,
    ],
    [
      '9',
      { interval: 'yearly', bill_charges_monthly: true, pay_in_advance: true },
      '2024-01-31T01:00',
      days('2024-01-31', '2025-01-30'),
      'empty at 2024-01-31T01:00',
      '=',
    ],
    [
      '10',
      { interval: 'yearly', bill_charges_monthly: true, pay_in_advance: true },
      '2024-02-29',
      days('2024-01-31', '2025-01-30'),
      days('2024-01-31T01:00', '2024-02-28'),
      null,
    ],
    [
      '11',
      { interval: 'yearly', bill_charges_monthly: true, pay_in_advance: true },
      '2025-01-31',
      days('2025-01-31', '2026-01-30'),
      days('2024-12-31', '2025-01-30'),
      YEAR,
    ],
    [
      '12',
      { interval: 'yearly', bill_fixed_charges_monthly: true, pay_in_advance: true },
      '2024-02-29',
      days('2024-01-31', '2025-01-30'),
      null,
      days('2024-01-31T01:00', '2024-02-28'),
    ],
    [
      '13',
      { interval: 'semiannual' },
      '2024-07-31',
      days('2024-01-31', '2024-07-30'),
      days('2024-01-31T01:00', '2024-07-30'),
      '=',
    ],
    [
      '14',
      { interval: 'semiannual', bill_charges_monthly: true },
      '2024-07-31',
      days('2024-01-31', '2024-07-30'),
      days('2024-06-30', '2024-07-30'),
      days('2024-01-31T01:00', '2024-07-30'),
    ],
    [
      '14b',
      { interval: 'quarterly' },
      '2024-04-30',
      days('2024-01-31', '2024-04-29'),
      days('2024-01-31T01:00', '2024-04-29'),
      '=',
    ],
    [
      '14b',
      { interval: 'quarterly' },
      '2024-07-31',
      days('2024-04-30', '2024-07-30'),
      days('2024-04-30', '2024-07-30'),
      '=',
    ],
    [
      'both split',
      { interval: 'yearly', bill_charges_monthly: true, bill_fixed_charges_monthly: true },
      '2024-04-30',
      days('2024-01-31', '2024-01-31T01:00').replace('T23:59:59', ''),
      days('2024-03-31', '2024-04-29'),
      '=',
    ],
  ])(
    'row %s of the examples: a plan with %o that is billed at %s has its windows',
    (_row, terms, run, own, charges, fixed) => {
      const windows = lineWindows({ plan: plan(terms), subscription: JAN_31, zone: UTC, at: instant(run) });
      expect([shown(windows.subscription), shown(windows.charges), shown(windows.fixedCharges)]).toEqual([
        own,
        charges,
        fixed === '=' ? charges : fixed,
      ]);
    },
  );

  test('a plan in advance bills the coming period and past usage (rows 3 and 4)', () => {
    const input = { plan: plan({ pay_in_advance: true }), subscription: subscription('2024-01-30'), zone: UTC };
    const start = lineWindows({ ...input, at: instant('2024-01-30') });
    expect(shown(start.subscription)).toBe(days('2024-01-30', '2024-02-28'));
    expect(shown(start.charges)).toBe('empty at 2024-01-30T00:00');
    expect(shown(start.fixedCharges)).toBe('empty at 2024-01-30T00:00');
    expect(shown(start.fixedChargesInAdvance)).toBe(days('2024-01-30', '2024-02-28'));

    const run = lineWindows({ ...input, at: instant('2024-02-29') });
    expect(shown(run.subscription)).toBe(days('2024-02-29', '2024-03-29'));
    expect(shown(run.charges)).toBe(days('2024-01-30', '2024-02-28'));
    expect(shown(run.fixedCharges)).toBe(days('2024-01-30', '2024-02-28'));
    expect([run.chargesDurationDays, run.fixedChargesInAdvanceDurationDays]).toEqual([30, 30]);
  });

  test('a monthly plan in advance bills by the calendar (row 5, G03)', () => {
    const windows = lineWindows({
      plan: plan({ pay_in_advance: true }),
      subscription: subscription('2023-06-16', { billing_time: 'calendar' }),
      zone: UTC,
      at: instant('2024-02-01'),
    });
    expect(shown(windows.subscription)).toBe(days('2024-02-01', '2024-02-29'));
    expect(shown(windows.charges)).toBe(days('2024-01-01', '2024-01-31'));
    expect(windows.chargesDurationDays).toBe(31);
  });

  test('the closing line of an upgraded subscription holds the period in progress (row 15)', () => {
    const upgraded = subscription('2023-06-29', { terminated_at: instant('2023-09-28T05:00') });
    const windows = lineWindows({
      plan: plan({ pay_in_advance: true }),
      subscription: upgraded,
      zone: UTC,
      at: instant('2023-09-28T05:00:01'),
      succession: 'upgrade',
    });
    const expected = days('2023-08-29', '2023-09-28T05:00');
    expect([windows.subscription, windows.charges, windows.fixedCharges].map(shown)).toEqual([
      expected,
      expected,
      expected,
    ]);
  });

  test('a termination cuts all windows, and the subscription window keeps the first day (row 16)', () => {
    const windows = lineWindows({
      plan: plan(),
      subscription: subscription('2024-04-24T11:00', {
        billing_time: 'calendar',
        terminated_at: instant('2024-04-26T11:00'),
      }),
      zone: UTC,
      at: instant('2024-04-26T11:00'),
    });
    expect(shown(windows.subscription)).toBe('2024-04-24T00:00 – 2024-04-26T11:00');
    expect(shown(windows.charges)).toBe('2024-04-24T11:00 – 2024-04-26T11:00');
    expect(shown(windows.fixedCharges)).toBe('2024-04-24T11:00 – 2024-04-26T11:00');
    expect(windows.charges!.to.toString()).toBe('2024-04-26T11:00:00.000001Z');
  });

  test('a yearly plan started on 29 February bills on 28 February in common years (G09)', () => {
    const run = (at: string) =>
      shown(
        lineWindows({
          plan: plan({ interval: 'yearly' }),
          subscription: subscription('2024-02-29'),
          zone: UTC,
          at: instant(at),
        }).subscription,
      );
    expect(run('2025-02-28')).toBe(days('2024-02-29', '2025-02-27'));
    expect(run('2028-02-29')).toBe(days('2027-02-28', '2028-02-28'));
  });

  test('a quarterly plan from 30 November has a period that ends in February (G10)', () => {
    const { subscription: own } = lineWindows({
      plan: plan({ interval: 'quarterly' }),
      subscription: subscription('2023-11-30'),
      zone: UTC,
      at: instant('2024-02-29'),
    });
    expect(shown(own)).toBe(days('2023-11-30', '2024-02-28'));
  });

  test('the first period in advance is the rest of the month, or a whole one on anniversaries (G01, G02)', () => {
    const starts = (billing_time: 'calendar' | 'anniversary') =>
      shown(
        lineWindows({
          plan: plan({ pay_in_advance: true }),
          subscription: subscription('2024-03-05', { billing_time }),
          zone: UTC,
          at: instant('2024-03-05'),
        }).subscription,
      );
    expect(starts('calendar')).toBe(days('2024-03-05', '2024-03-31'));
    expect(starts('anniversary')).toBe(days('2024-03-05', '2024-04-04'));
  });

  test('a downgraded plan in arrears closes its whole last period', () => {
    const { subscription: own, charges } = lineWindows({
      plan: plan(),
      subscription: subscription('2024-01-15', {
        billing_time: 'calendar',
        terminated_at: instant('2024-06-01T00:10'),
      }),
      zone: UTC,
      at: instant('2024-06-01T00:10'),
      succession: 'downgrade',
    });
    expect([shown(own), shown(charges)]).toEqual([days('2024-05-01', '2024-05-31'), days('2024-05-01', '2024-05-31')]);
  });

  test('a termination later than the billing instant changes no plan window', () => {
    const { subscription: own } = lineWindows({
      plan: plan(),
      subscription: subscription('2024-01-15', { terminated_at: instant('2024-03-20') }),
      zone: UTC,
      at: instant('2024-03-15T00:10'),
    });
    expect(shown(own)).toBe(days('2024-02-15', '2024-03-14'));
  });

  test('the closing line of a plan with split billing carries every window', () => {
    const windows = lineWindows({
      plan: plan({ interval: 'yearly', bill_charges_monthly: true }),
      subscription: subscription('2024-01-01', {
        billing_time: 'calendar',
        terminated_at: instant('2024-04-10T12:00'),
      }),
      zone: UTC,
      at: instant('2024-04-10T12:00'),
    });
    expect(shown(windows.charges)).toBe('2024-04-01T00:00 – 2024-04-10T12:00');
    expect(shown(windows.fixedCharges)).toBe('2024-01-01T00:00 – 2024-04-10T12:00');
    expect([windows.chargesDurationDays, windows.fixedChargesDurationDays]).toEqual([30, 366]);
  });

  test('a subscription that has not started has no windows', () => {
    const pending = { ...JAN_31, started_at: null };
    expect(() => lineWindows({ plan: plan(), subscription: pending, zone: UTC, at: instant('2024-02-29') })).toThrow(
      'has started',
    );
  });
});

describe('windows in a zone (billing-periods.md#timezones)', () => {
  const calendar = subscription('2023-01-01', { billing_time: 'calendar' });

  test.each([
    ['Asia/Kolkata', 'weekly', '2023-02-12T19:00Z', '2023-02-05T18:30 – 2023-02-12T18:29:59'],
    ['Europe/Paris', 'monthly', '2024-03-31T22:10Z', '2024-02-29T23:00 – 2024-03-31T21:59:59'],
    ['America/New_York', 'monthly', '2024-12-01T05:10Z', '2024-11-01T04:00 – 2024-12-01T04:59:59'],
  ] as const)('windows begin and end at local midnights: %s, %s, run %s', (zone, interval, run, expected) => {
    const windows = lineWindows({ plan: plan({ interval }), subscription: calendar, zone, at: instant(run) });
    expect(shown(windows.subscription)).toBe(expected);
    expect(shown(windows.charges)).toBe(expected);
  });

  test('a weekly plan in advance in America/Denver bills the week of the local Thursday', () => {
    const windows = lineWindows({
      plan: plan({ interval: 'weekly', pay_in_advance: true }),
      subscription: subscription('2023-06-16T05:00Z', { billing_time: 'calendar' }),
      zone: 'America/Denver',
      at: instant('2023-06-16T05:00Z'),
    });
    expect(shown(windows.subscription)).toBe('2023-06-15T06:00 – 2023-06-19T05:59:59');
  });

  test('a change of time zone leaves neither gap nor overlap', () => {
    const before = lineWindows({
      plan: plan(),
      subscription: calendar,
      zone: 'Asia/Tokyo',
      at: instant('2024-02-29T15:10Z'),
    });
    const input = {
      plan: plan(),
      subscription: calendar,
      zone: 'America/Los_Angeles',
      at: instant('2024-04-01T07:10Z'),
    };
    expect(shown(lineWindows(input).charges)).toBe('2024-03-01T08:00 – 2024-04-01T06:59:59');
    const after = lineWindows({ ...input, movedFrom: before });
    expect(shown(after.charges)).toBe('2024-02-29T15:00 – 2024-04-01T06:59:59');
    expect(after.charges!.from.equals(before.charges!.to)).toBe(true);
    expect(after.fixedCharges!.from.equals(before.fixedCharges!.to)).toBe(true);
  });

  test('a window is not extended to an older line that is too far away', () => {
    const january = lineWindows({
      plan: plan(),
      subscription: calendar,
      zone: 'Asia/Tokyo',
      at: instant('2024-01-31T15:10Z'),
    });
    const april = { plan: plan(), subscription: calendar, zone: UTC, at: instant('2024-04-01') };
    expect(lineWindows({ ...april, movedFrom: january })).toEqual(lineWindows(april));
  });
});

describe('ending on the first day of a period (termination.md#ending-on-a-boundary)', () => {
  const ended = (
    started: string,
    at: string,
    terms: Partial<PlanTerms> = {},
    succession: 'none' | 'upgrade' = 'none',
  ) => ({
    plan: plan(terms),
    subscription: subscription(started, { terminated_at: instant(at) }),
    zone: UTC,
    at: instant(at),
    succession,
  });

  test('an end on the billing day closes the period behind, without an extra day (G33)', () => {
    const windows = boundaryWindows(ended('2023-09-05', '2023-10-05T00:05'))!;
    expect(shown(windows.subscription)).toBe(days('2023-09-05', '2023-10-04'));
    expect(shown(windows.charges)).toBe(days('2023-09-05', '2023-10-04'));
    expect(windows.chargesDurationDays).toBe(30);
  });

  test('when the past period was billed, an end on the billing day leaves one day (G36)', () => {
    const windows = lineWindows(ended('2023-09-05', '2023-10-05T15:00'));
    expect(shown(windows.subscription)).toBe('2023-10-05T00:00 – 2023-10-05T15:00');
  });

  test.each([
    ['an ordinary day', ended('2023-09-05', '2023-10-06')],
    ['the day of the start', ended('2023-09-05T03:00', '2023-09-05T18:00')],
    ['an upgrade', ended('2023-09-05', '2023-10-05', {}, 'upgrade')],
  ])('the rule of ending on a boundary does not apply to %s', (_name, input) => {
    expect(boundaryWindows(input)).toBeUndefined();
  });

  test('a yearly plan with monthly charges closes the past month and its year so far', () => {
    const windows = boundaryWindows(
      ended('2024-01-01', '2024-04-01T00:05', { interval: 'yearly', bill_charges_monthly: true }),
    )!;
    expect(shown(windows.charges)).toBe(days('2024-03-01', '2024-03-31'));
    expect(shown(windows.subscription)).toBe('2024-01-01T00:00 – 2024-04-01T00:05');
    expect(shown(windows.fixedCharges)).toBe('2024-01-01T00:00 – 2024-04-01T00:05');
  });
});

describe('the current billing period', () => {
  test('the current billing period is the charges window in progress', () => {
    expect(shown(currentBillingPeriod(plan(), JAN_31, UTC, instant('2024-03-01')))).toBe(
      days('2024-02-29', '2024-03-30'),
    );
    expect(shown(currentBillingPeriod(plan(), JAN_31, UTC, instant('2024-02-01')))).toBe(
      days('2024-01-31T01:00', '2024-02-28'),
    );
  });

  test('the current billing period before the start is the first one', () => {
    expect(shown(currentBillingPeriod(plan(), JAN_31, UTC, instant('2023-12-01')))).toBe(
      days('2024-01-31T01:00', '2024-02-28'),
    );
  });

  test('the current billing period of a yearly plan with monthly charges is a month', () => {
    const yearly = plan({ interval: 'yearly', bill_charges_monthly: true });
    expect(shown(currentBillingPeriod(yearly, JAN_31, UTC, instant('2024-06-01')))).toBe(
      days('2024-05-31', '2024-06-29'),
    );
  });
});

test('charges windows of successive runs cover the life of a subscription without gap or overlap in any zone', () => {
  const zones = [
    'UTC',
    'Europe/Paris',
    'America/St_Johns',
    'America/Sao_Paulo',
    'Asia/Kolkata',
    'Pacific/Apia',
    'America/Havana',
    'Australia/Lord_Howe',
    'Africa/Cairo',
  ];
  const start = fc
    .integer({ min: 0, max: 15 * 365 * 24 * 60 })
    .map((minutes) => instant('2012-01-01').add({ minutes }));
  const terms = fc.record({
    interval: fc.constantFrom(...INTERVALS),
    pay_in_advance: fc.boolean(),
    bill_charges_monthly: fc.boolean(),
    bill_fixed_charges_monthly: fc.constant(false),
  });
  fc.assert(
    fc.property(
      terms,
      fc.constantFrom(...BILLING_TIMES),
      fc.constantFrom(...zones),
      start,
      (plan, billing_time, zone, at) => {
        const life = { started_at: at, subscription_at: at, billing_time, terminated_at: null };
        let reached = at;
        let day = billingDayFrom(plan, life, zone, date('2000-01-01'));
        for (let run = 0; run < 6; run += 1) {
          expect(isBillingDay(plan, life, zone, day)).toBe(true);
          const { charges } = lineWindows({ plan, subscription: life, zone, at: dayStart(day, zone) });
          expect(charges!.from.toString()).toBe(reached.toString());
          expect(charges!.to.toString()).toBe(dayStart(day, zone).toString());
          reached = charges!.to;
          day = billingDayAfter(plan, life, zone, dayStart(day, zone));
        }
      },
    ),
    { numRuns: 120 },
  );
});
