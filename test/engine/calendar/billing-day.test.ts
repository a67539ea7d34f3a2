import { describe, expect, test } from 'vitest';
import {
  billingDayAfter,
  billingDayFrom,
  billingDaysBetween,
  type DueInput,
  firstTickOf,
  isBillingDay,
  isDue,
} from '../../../src/engine/calendar/billing-day.ts';
import { date, instant, plan, subscription } from './build.ts';

const active = (started: string, terms: Partial<DueInput['subscription']> = {}) => ({
  ...subscription(started, { billing_time: 'calendar' }),
  status: 'active',
  created_at: instant(started),
  ending_at: null,
  ...terms,
});

const due = (at: string, changes: Partial<DueInput> = {}) =>
  isDue({
    plan: plan(),
    subscription: active('2024-03-05'),
    zone: 'UTC',
    at: instant(at),
    lastRecurringAt: null,
    ...changes,
  });

describe('due subscriptions', () => {
  test('a subscription is due on the first local day of a period and on no other', () => {
    expect(due('2024-04-01T00:10')).toBe(true);
    expect(due('2024-03-31T23:10')).toBe(false);
    expect(due('2024-04-02T00:10')).toBe(false);
  });

  test('a subscription is due once a local day (G18)', () => {
    expect(due('2024-04-01T01:10', { lastRecurringAt: instant('2024-04-01T00:10') })).toBe(false);
    expect(due('2024-05-01T00:10', { lastRecurringAt: instant('2024-04-01T00:10') })).toBe(true);
  });

  test('a subscription is not due on the day on which it started, was created or ends', () => {
    expect(due('2024-04-01T05:10', { subscription: active('2024-04-01') })).toBe(false);
    expect(due('2024-04-01T05:10', { subscription: active('2024-03-05', { created_at: instant('2024-04-02') }) })).toBe(
      false,
    );
    expect(
      due('2024-04-01T05:10', { subscription: active('2024-03-05', { ending_at: instant('2024-04-01T20:00') }) }),
    ).toBe(false);
    expect(due('2024-04-01T05:10', { subscription: active('2024-03-05', { ending_at: instant('2024-04-02') }) })).toBe(
      true,
    );
  });

  test.each(['pending', 'incomplete', 'terminated', 'canceled'])('a subscription is not due when %s', (status) => {
    expect(due('2024-04-01T00:10', { subscription: active('2024-03-05', { status }) })).toBe(false);
  });

  test.each([
    ['Asia/Kolkata', '2023-02-12T19:00Z', 'is', true],
    ['Asia/Kolkata', '2023-02-13T19:00Z', 'is not', false],
    ['America/Bogota', '2023-02-13T04:00Z', 'is not', false],
    ['America/Bogota', '2023-02-13T05:00Z', 'is', true],
  ])('a weekly subscription in %s at %s %s due', (zone, at, _verb, expected) => {
    expect(due(at, { zone, plan: plan({ interval: 'weekly' }), subscription: active('2023-01-04') })).toBe(expected);
  });

  test('a subscription is due monthly when its plan splits billing, with the same anchor', () => {
    const yearly = plan({ interval: 'yearly' });
    const anniversary = subscription('2024-01-31T01:00');
    expect(isBillingDay(yearly, anniversary, 'UTC', date('2024-02-29'))).toBe(false);
    const split = plan({ interval: 'yearly', bill_fixed_charges_monthly: true });
    expect(isBillingDay(split, anniversary, 'UTC', date('2024-02-29'))).toBe(true);
  });

  test('the flag of monthly charges has no effect on a short interval', () => {
    const quarterly = plan({ interval: 'quarterly', bill_charges_monthly: true });
    expect(isBillingDay(quarterly, subscription('2024-01-15'), 'UTC', date('2024-02-15'))).toBe(false);
  });
});

describe('the next billing day', () => {
  const calendar = subscription('2024-03-01T10:00', { billing_time: 'calendar' });

  test.each([
    ['2024-02-01', '2024-04-01'],
    ['2024-03-01', '2024-04-01'],
    ['2024-04-01', '2024-04-01'],
    ['2024-04-02', '2024-05-01'],
  ])('the next billing day from %s on is %s, never the day of the start', (from, expected) => {
    expect(billingDayFrom(plan(), calendar, 'UTC', date(from)).toString()).toBe(expected);
  });

  test('the next billing day after a run is that of the next period', () => {
    expect(billingDayAfter(plan(), calendar, 'UTC', instant('2024-04-01T00:10')).toString()).toBe('2024-05-01');
    const paris = billingDayAfter(plan(), calendar, 'Europe/Paris', instant('2024-03-31T22:10Z'));
    expect(paris.toString()).toBe('2024-05-01');
    const clamped = billingDayAfter(plan(), subscription('2024-01-31'), 'UTC', instant('2024-02-29T00:10'));
    expect(clamped.toString()).toBe('2024-03-31');
  });

  test('an outage leaves the missed billing days in order', () => {
    const missed = billingDaysBetween(
      plan(),
      subscription('2024-01-31'),
      'UTC',
      date('2024-02-01'),
      date('2024-04-30'),
    );
    expect(missed.map(String)).toEqual(['2024-02-29', '2024-03-31', '2024-04-30']);
    expect(billingDaysBetween(plan(), calendar, 'UTC', date('2024-04-02'), date('2024-04-30'))).toEqual([]);
  });

  test.each([
    ['2024-04-01', 'Europe/Paris', 10, '2024-03-31T22:10:00Z'],
    ['2023-02-13', 'Asia/Kolkata', 10, '2023-02-12T19:10:00Z'],
    ['2024-04-01', 'UTC', 0, '2024-04-01T00:00:00Z'],
    ['2023-09-05', 'America/Bogota', 5, '2023-09-05T05:05:00Z'],
    ['2024-04-01', 'Asia/Kathmandu', 10, '2024-03-31T19:10:00Z'],
  ])('the first tick of %s in %s at :%s is %s', (day, zone, minute, expected) => {
    expect(firstTickOf(date(day), zone, minute).toString()).toBe(expected);
  });
});
