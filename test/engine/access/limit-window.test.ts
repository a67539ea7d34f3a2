import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { limitWindow } from '../../../src/engine/access/limit-window.ts';

const at = (text: string) => Temporal.Instant.from(text);
const LIFE = {
  now: at('2026-03-31T22:30:00Z'),
  zone: 'Europe/Berlin',
  billingPeriod: { from: at('2026-03-15T00:00:00Z'), to: at('2026-04-15T00:00:00Z') },
  startedAt: at('2025-01-10T08:00:00Z'),
};

// entitlements.md#usage-limits: the customer's day is 1 April already.
test.each([
  ['billing_period', '2026-03-15T00:00:00Z', '2026-04-15T00:00:00Z', '2026-04-15T00:00:00Z'],
  ['day', '2026-03-31T22:00:00Z', '2026-04-01T22:00:00Z', '2026-04-01T22:00:00Z'],
  ['month', '2026-03-31T22:00:00Z', '2026-04-30T22:00:00Z', '2026-04-30T22:00:00Z'],
  ['lifetime', '2025-01-10T08:00:00Z', '2026-04-15T00:00:00Z', null],
] as const)('a usage limit per %s counts from %s to %s', (of, from, to, resetsAt) => {
  const limit = limitWindow(of, LIFE);
  expect([limit.window.from.toString(), limit.window.to.toString()]).toEqual([from, to]);
  expect(limit.resetsAt?.toString() ?? null).toBe(resetsAt);
});

test('a monthly limit spans a change to daylight saving', () => {
  const { window } = limitWindow('month', { ...LIFE, now: at('2026-03-09T10:00:00Z') });
  expect([window.from.toString(), window.to.toString()]).toEqual(['2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z']);
});
