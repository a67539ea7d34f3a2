import { Temporal } from 'temporal-polyfill';
import { afterEach, expect, test, vi } from 'vitest';
import type { Counting, Summing } from '../../../../src/areas/usage/usage-counts/counted-charge.ts';
import { plansOfReading } from '../../../../src/areas/usage/usage-counts/full-hours-and-days.ts';
import { readingOf } from '../../../../src/areas/usage/usage-counts/plan-readings.ts';
import { sharedRaw, sharedRollups } from '../../../../src/areas/usage/usage-counts/shared-statements.ts';

// everywhere.md#bounded-cost: what is asked of the database for a plan of 500 charges, each on a metric of its own, is
// put together in pieces. Before, it was one piece of 45 ms, of which most wrote the same few instants 500 times.
const CHARGES = 500;

afterEach(() => vi.restoreAllMocks());

function summings(): Summing[] {
  const from = Temporal.Instant.from('2024-03-01T00:10:00Z');
  const to = Temporal.Instant.from('2024-03-31T10:20:00Z');
  const planOf = plansOfReading();
  return Array.from({ length: CHARGES }, (_, n) => {
    const window = { from, to };
    const metric = {
      id: `${n}`,
      code: `m${n}`,
      aggregation_type: 'sum_agg' as const,
      field_name: 'value',
      filters: [],
    };
    const charge = { key: `${n}`, externalSubscriptionId: 's', metric, filters: [], groupKeys: [], window };
    const counting: Counting = { charge, names: [], rows: [], totals: new Map(), isCut: false };
    return { window, isBefore: false, days: null, counting, plan: planOf(window) };
  });
}

test('counting usage pauses between two charges', async () => {
  const pause = vi.fn(() => undefined);
  const rollups = await sharedRollups(summings(), pause);
  expect(rollups).toHaveLength(CHARGES);
  expect(pause).toHaveBeenCalledTimes(2 * CHARGES); // once to ask, once to look who asks the same
  const raw = await sharedRaw(summings(), pause);
  expect(raw).toHaveLength(2 * CHARGES);
  expect(pause).toHaveBeenCalledTimes(5 * CHARGES);
});

test('counting usage writes the instants of a window once, whatever the number of charges', async () => {
  const write = vi.spyOn(Temporal.Instant.prototype, 'toString');
  const readings = summings();
  await sharedRollups(readings);
  // Both ends of the full hours, of the full days, and of the partial hours at the edges.
  expect(write.mock.calls.length).toBeLessThanOrEqual(8);
  write.mockClear();
  const [first] = await sharedRaw(readings);
  expect(write.mock.calls.length).toBeLessThanOrEqual(8);
  expect(first!.request).toMatchObject({
    from: '2024-03-01T00:10:00Z',
    to: '2024-03-01T01:00:00Z',
    start_at: '2024-03-01T00:10:00Z',
    end_at: '2024-03-31T10:19:59.999Z',
  });
});

test('counting usage computes the local days of a period once, whatever the number of prorated charges', () => {
  const [{ counting }] = summings() as [Summing];
  const { from, to } = counting.charge.window as { from: Temporal.Instant; to: Temporal.Instant };
  const proration = { period: { from, to }, periodDays: 31, zone: 'Europe/Paris', isUpgraded: false };
  const daysOf = (key: string) => readingOf({ ...counting.charge, key, isProrated: true, proration }).sums[1]!.days;
  expect(daysOf('a')).toHaveLength(31);
  expect(daysOf('b')).toBe(daysOf('a'));
});
