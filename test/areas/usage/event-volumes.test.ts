import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { volumeHours } from '../../../src/areas/usage/event-volumes/jobs.ts';
import { EventVolumeQuery } from '../../../src/areas/usage/event-volumes/schema.ts';
import { spanOf } from '../../../src/areas/usage/event-volumes/span.ts';
import { finishBatches } from '../../../src/areas/usage/ingest-events/finish-batches.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { SweepDeps } from '../../../src/platform/periodic-job.ts';
import type { Refusal } from '../../../src/platform/refusal.ts';
import { scratchDeps } from '../../jobs/advance-clock/scratch.ts';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// event-volume.md.
const NOW = Temporal.Instant.from('2026-11-01T12:00:00Z');
const span = (query: Record<string, string>) => spanOf(EventVolumeQuery.parse(query), NOW);
const refusalOf = (query: Record<string, string>) => {
  try {
    return { steps: span(query).steps };
  } catch (error) {
    return (error as Refusal).body.error_details;
  }
};
/** Longest wait for the sums of a door. */
const DOOR_WITHIN_MS = 30_000;
const OUT = { from: ['value_is_out_of_range'] };

test('minutes are widened to whole ones (CO12)', () => {
  const { from, steps } = span({ from: '2026-11-01T10:00:30Z', to: '2026-11-01T11:00:00Z' });
  expect([from.toString(), steps]).toEqual(['2026-11-01T10:00:00Z', 60]);
});

test.each([
  [{ step: 'minute', from: '2026-10-31T11:00:00Z', to: '2026-11-01T11:00:00Z', code: 'x' }, { steps: 1440 }],
  [{ step: 'minute', from: '2026-10-31T10:59:00Z', to: '2026-11-01T11:00:00Z', code: 'x' }, OUT],
  [{ step: 'minute', from: '2026-11-01T08:00:00Z', to: '2026-11-01T11:00:00Z' }, { steps: 180 }],
  [{ step: 'minute', from: '2026-11-01T07:59:00Z', to: '2026-11-01T11:00:00Z' }, OUT],
  [{ step: 'hour', from: '2026-11-01T10:15:00Z', to: '2026-11-01T10:16:00Z' }, { steps: 1 }],
  [{ step: 'day', from: '2026-10-01', to: '2026-11-01' }, { steps: 31 }],
  [{ step: 'minute', from: '2026-10-30T11:00:00Z', to: '2026-10-30T11:30:00Z' }, OUT],
  [{ step: 'hour', from: '2026-11-01T11:00:00Z', to: '2026-11-01T11:00:00Z' }, OUT],
  [{ step: 'hour', from: 'soon' }, { from: ['invalid_date'] }],
  [{ step: 'hour' }, { steps: 24 }],
])('%j is %j (CO12)', (query, expected) => {
  expect(refusalOf(query)).toEqual(expected);
});

let service: TestService;
let story: Story;
beforeAll(async () => {
  service = await startService();
  // The clock stands in another year: volumes follow real time all the same.
  story = await openStory(service, '2024-05-01T08:00:00Z');
  const metric = await story.metric('calls');
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '1' } }],
  });
  await story.customer({ external_id: 'ada' });
  await ok(story.subscribe({ external_customer_id: 'ada', external_id: 'ada-1' }));
});
afterAll(() => service.stop());

const events = (count: number, code: string, prefix: string) =>
  Array.from({ length: count }, (_, index) => ({
    transaction_id: `${prefix}${index}`,
    external_subscription_id: 'ada-1',
    code,
  }));
const volume = async (query = '') => (await ok(story.client.get(`/event_volume${query}`))).event_volume;
const totals = async () => (await volume()).totals;

test('a batch counts once, however often its job runs (CO13)', async () => {
  await ok(story.client.post('/events/batch', { events: events(100, 'calls', 'a') }));
  await until(async () => (await totals()).stored === 100 || undefined);
  const batches = await service.sql<{ id: string }[]>`select id from event_batches`;
  await service.sql.begin((tx) =>
    finishBatches(
      tx,
      batches.map(({ id }) => id as Parameters<typeof finishBatches>[1][number]),
    ),
  );
  const { series, ...shown } = await volume();
  expect(shown.totals).toMatchObject({ stored: 100, unmatched: 0 });
  expect(series).toHaveLength(1);
  expect(series[0].code).toBe('calls');
  expect(series[0].stored).toHaveLength(shown.replayed.length);
  expect(series[0].stored.reduce((sum: number, count: number) => sum + count, 0)).toBe(100);
});

test('codes without a metric share the empty one, and count as unmatched', async () => {
  await ok(story.client.post('/events/batch', { events: [...events(2, 'x', 'x'), ...events(1, 'y', 'y')] }));
  await until(async () => (await totals()).stored === 103 || undefined);
  const { series, totals: sums } = await volume();
  expect(series.map(({ code }: { code: string }) => code)).toEqual(['calls', '']);
  expect(sums.unmatched).toBe(3);
  expect(await volume('?code=calls')).toMatchObject({ totals: { stored: 100, replayed: null }, replayed: null });
});

test('repeated and refused events are counted by the door', async () => {
  const event = events(1, 'calls', 'a')[0]!;
  await ok(story.client.post('/events', { event }));
  await story.client.post('/events', { event: { ...event, properties: { other: 1 } } });
  await story.client.post('/events', { event: { code: 'calls' } });
  await story.client.post('/events/batch', { events: [...events(2, 'calls', 'new'), { code: 'calls' }] });
  const mode = await ok(story.client.post('/events/batch?mode=tolerant', { events: [event, { code: 'calls' }] }));
  expect(mode.counts).toEqual({ stored: 0, replayed: 1, rejected: 1 });
  // The door adds what it has counted every ten seconds.
  const shown = await until(async () => {
    const { totals: sums } = await volume();
    return sums.rejected > 0 ? sums : undefined;
  }, DOOR_WITHIN_MS);
  expect(shown).toMatchObject({ stored: 103, replayed: 2, rejected: 6 });
}, 60_000);

test('hours are summed from minutes, anew with each run, and read with what is not summed yet', async () => {
  const hour = realNow().round({ smallestUnit: 'hour', roundingMode: 'floor' });
  const at = (back: number) => hour.subtract({ hours: back });
  for (const [minute, lane, stored] of [
    [at(1), 0, 5],
    [at(1), 1, 2],
    [at(3), 0, 4],
    [at(50), 0, 9],
  ] as const)
    await service.sql`
      insert into event_volumes (organization_id, minute, code, lane, stored, unmatched, replayed, rejected)
      values (${story.organizationId}, ${minute}, 'old', ${lane}, ${stored}, 0, 0, 0)`;
  const before = await volume('?step=hour&code=old');
  expect(before.totals.stored).toBe(11);
  const deps = scratchDeps(service.sql) as unknown as SweepDeps;
  await volumeHours.sweep(deps, hour.add({ minutes: 12 }));
  await volumeHours.sweep(deps, hour.add({ minutes: 12 }));
  expect((await volume('?step=hour&code=old')).totals.stored).toBe(11);
  expect((await volume('?step=day&code=old')).totals.stored).toBe(11);
  const [old] = await service.sql<{ count: number }[]>`
    select count(*) as count from event_volumes where minute = ${at(50)}`;
  expect(old!.count).toBe(0);
});

test('one statement, with one code and with a thousand', async () => {
  const asked = () =>
    countStatements(service, story.organizationId, 'findEventVolume', { now: realNow().toString(), query: {} });
  expect((await asked()).statements).toHaveLength(1);
  await service.sql`
    insert into event_volumes (organization_id, minute, code, lane, stored, unmatched, replayed, rejected)
    select ${story.organizationId}, date_trunc('minute', now() - interval '10 minutes'), 'code' || n, 0, n, 0, 0, 0
    from generate_series(1, 1000) n`;
  const many = await asked();
  expect(many.statements).toHaveLength(1);
  const { series } = many.body.event_volume;
  expect(series).toHaveLength(21);
  expect(series[0].code).toBe('code1000');
  expect(series.at(-1).code).toBeNull();
});
