import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { budgetWindow, isClosed } from '../../../src/engine/budgets/budget-window.ts';

const at = (text: string) => Temporal.Instant.from(text);
const createdAt = at('2026-01-15T10:00:00Z');

test.each([
  ['day', 'Europe/Berlin', '2026-03-09T22:59:59Z', '2026-03-08T23:00:00Z', '2026-03-09T23:00:00Z'],
  ['day', 'Europe/Berlin', '2026-03-09T23:00:00Z', '2026-03-09T23:00:00Z', '2026-03-10T23:00:00Z'],
  ['day', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ['week', 'UTC', '2026-03-15T23:59:59Z', '2026-03-09T00:00:00Z', '2026-03-16T00:00:00Z'],
  ['week', 'UTC', '2026-03-16T00:00:00Z', '2026-03-16T00:00:00Z', '2026-03-23T00:00:00Z'],
  ['month', 'Europe/Berlin', '2026-03-09T00:00:00Z', '2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z'],
  ['lifetime', 'UTC', '2030-01-01T00:00:00Z', '2026-01-15T10:00:00Z', null],
] as const)('the %s in %s that holds %s begins at %s and ends at %s', (period, zone, instant, from, to) => {
  const window = budgetWindow({ period, zone, createdAt }, at(instant));
  expect([window.from.toString(), window.to?.toString() ?? null]).toEqual([from, to]);
});

test('a hold at the end of a local day and its settlement after it are of different days (BU15)', () => {
  const day = (instant: string) => budgetWindow({ period: 'day', zone: 'America/New_York', createdAt }, at(instant));
  const first = day('2026-03-10T03:59:59Z');
  expect(first.to!.toString()).toBe('2026-03-10T04:00:00Z');
  expect(day('2026-03-10T04:00:02Z').from.toString()).toBe('2026-03-10T04:00:00Z');
});

test('a window by billing period is that of the subscription', () => {
  const billingPeriod = { from: at('2026-03-05T00:00:00Z'), to: at('2026-04-05T00:00:00Z') };
  expect(budgetWindow({ period: 'billing_period', zone: 'UTC', createdAt, billingPeriod }, createdAt)).toBe(
    billingPeriod,
  );
});

test('a window is closed from its end on, and never without one', () => {
  const end = at('2026-03-10T00:00:00Z');
  expect([
    isClosed({ to: end }, at('2026-03-09T23:59:59.999999Z')),
    isClosed({ to: end }, end),
    isClosed({ to: null }, at('2999-01-01T00:00:00Z')),
  ]).toEqual([false, true, false]);
});
