import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { finishOpenBatches } from '../../../../src/areas/usage/ingest-events/finish-batches.ts';
import { healEvents, recountUnmatched } from '../../../../src/areas/usage/ingest-events/heal-unmatched-events.ts';
import { tryHealing } from '../../../../src/areas/usage/unmatched-events/matching-lock.ts';
import { MOST_TOTALS } from '../../../../src/areas/usage/unmatched-events/totals.ts';
import { InOtherHands } from '../../../../src/platform/busy.ts';
import type { Context, OwedStep } from '../../../../src/platform/context.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { incoming, makeMetric, storage } from './build.ts';

let database: TestDatabase;
let organizationId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
});
afterAll(() => database.drop());

/** Runs a step and all that it owes. */
async function run(first: OwedStep, owner = organizationId): Promise<string[]> {
  const handlers = { 'heal-events': healEvents, 'recount-unmatched': recountUnmatched };
  const owed = [first];
  const ran: string[] = [];
  for (let step = owed.shift(); step; step = owed.shift()) {
    const { step: job, payload } = step;
    ran.push(job);
    await database.sql.begin((tx) =>
      handlers[job as keyof typeof handlers](
        {
          organizationId: owner,
          db: tx,
          log: createLog({ level: 'silent', process: 'test' }),
          now: () => Temporal.Instant.from('2024-04-01T00:00:00Z'),
          after: (next: OwedStep) => owed.push(next),
        } as unknown as Context,
        payload as never,
      ),
    );
  }
  return ran;
}

const totals = async () =>
  await database.sql`
    select total.reason, total.count, total.kept, (
      select count(*) from unmatched_events u
      where u.organization_id = total.organization_id and u.reason = total.reason and u.status = 'open') as rows
    from unmatched_totals total where total.organization_id = ${organizationId} and total.count > 0
      order by total.reason`;

test('events counted only in totals are found again by their code', async () => {
  await storage(database.sql).store(incoming(organizationId, [{}, {}, {}]));
  await finishOpenBatches({ db: database.sql, organizationId });
  // As if two of them had come beyond the limit of rows.
  await database.sql`
    delete from unmatched_events where event_id in (
      select event_id from unmatched_events where organization_id = ${organizationId} limit 2)`;
  await database.sql`update unmatched_totals set kept = 1 where organization_id = ${organizationId}`;
  expect(await totals()).toEqual([{ reason: 'metric_not_found', count: 3, kept: 1, rows: 1 }]);
  const metric = await makeMetric(database.sql, organizationId);
  expect(await run({ step: 'heal-events', payload: { metric_ids: [metric.id] } })).toEqual([
    'heal-events',
    'recount-unmatched',
  ]);
  expect(await totals()).toEqual([{ reason: 'subscription_not_found', count: 3, kept: 3, rows: 3 }]);
  expect(await run({ step: 'heal-events', payload: { metric_ids: [metric.id] } })).toEqual(['heal-events']);
});

test('one healing step serves all waiting requests, and none queues behind it', async () => {
  const metric = await makeMetric(database.sql, organizationId, { code: 'minutes' });
  await database.sql`
    insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at)
    select gen_random_uuid(), ${organizationId}, 'heal-events', payload, now(), now()
    from unnest(array['{"external_subscription_id":"a"}', '{"external_subscription_id":"b"}',
      '{"run_id":"0192d1f0-0000-7000-8000-000000000001"}']::jsonb[]) as payload`;
  const left = () => database.sql`select payload from after_steps where organization_id = ${organizationId}`;
  await database.sql.begin(async (tx) => {
    expect(await tryHealing({ db: tx, organizationId })).toBe(true);
    await expect(run({ step: 'heal-events', payload: {} })).rejects.toThrow(InOtherHands);
  });
  expect(await left()).toHaveLength(3);

  await storage(database.sql).store(
    incoming(organizationId, [
      { code: 'minutes', external_subscription_id: 'a' },
      { code: 'other', external_subscription_id: 'b' },
      { code: 'other', external_subscription_id: 'c' },
    ]),
  );
  await finishOpenBatches({ db: database.sql, organizationId });
  await makeMetric(database.sql, organizationId, { code: 'other' });
  await run({ step: 'heal-events', payload: { metric_ids: [metric.id] } });
  expect(await left()).toEqual([{ payload: { run_id: '0192d1f0-0000-7000-8000-000000000001' } }]);
  const reasons = await database.sql`
    select external_subscription_id as id, reason from unmatched_events
    where organization_id = ${organizationId} and code in ('minutes', 'other') order by 1`;
  // Looked at again: the one of `a` by its metric, the one of `b` by its subscription.
  expect([...reasons]).toEqual([
    { id: 'a', reason: 'subscription_not_found' },
    { id: 'b', reason: 'subscription_not_found' },
    { id: 'c', reason: 'metric_not_found' },
  ]);
});

test('codes beyond a limit share one total, and healing keeps it right', async () => {
  const { sql } = database;
  const { organization_id: id } = await createOrganization(sql, { name: 'Acme', sandbox: true });
  await sql`
    insert into unmatched_totals (organization_id, reason, code, count, kept, first_seen_at, last_seen_at)
    select ${id}, 'no_charge', 'code-' || n, 1, 1, now(), now() from generate_series(1, ${MOST_TOTALS - 1}) n`;
  const send = async (...codes: string[]) => {
    await storage(sql).store(
      incoming(
        id,
        codes.map((code) => ({ code })),
      ),
    );
    await finishOpenBatches({ db: sql, organizationId: id });
  };
  const shared = async () =>
    await sql`
      select reason, code, count, kept from unmatched_totals
      where organization_id = ${id} and code not like 'code-%' order by reason, code`;
  await send('first', 'second', 'third', 'third');
  await send('first', 'fourth');
  expect(await shared()).toEqual([
    { reason: 'metric_not_found', code: '', count: 4, kept: 4 },
    { reason: 'metric_not_found', code: 'first', count: 2, kept: 2 },
  ]);
  const rows = await sql`
    select code, shares_total from unmatched_events where organization_id = ${id} order by code, event_id`;
  expect(rows.map((row) => row.code)).toEqual(['first', 'first', 'fourth', 'second', 'third', 'third']);
  expect(rows.map((row) => row.shares_total)).toEqual([false, false, true, true, true, true]);

  const metric = await makeMetric(sql, id, { code: 'third' });
  await run({ step: 'heal-events', payload: { metric_ids: [metric.id] } }, id);
  expect(await shared()).toEqual([
    { reason: 'metric_not_found', code: '', count: 2, kept: 2 },
    { reason: 'metric_not_found', code: 'first', count: 2, kept: 2 },
    { reason: 'subscription_not_found', code: '', count: 2, kept: 2 },
  ]);
});

test('a total that healing empties is free for another code', async () => {
  const { sql } = database;
  const { organization_id: id } = await createOrganization(sql, { name: 'Acme', sandbox: false });
  await storage(sql).store(incoming(id, [{}, {}]));
  await finishOpenBatches({ db: sql, organizationId: id });
  const metric = await makeMetric(sql, id);
  await run({ step: 'heal-events', payload: { metric_ids: [metric.id] } }, id);
  expect(await sql`select reason, count from unmatched_totals where organization_id = ${id}`).toEqual([
    { reason: 'subscription_not_found', count: 2 },
  ]);
});

test('healing does not wait for another healing, in sandboxes too, and only briefly for events being matched', async () => {
  const { sql } = database;
  const { organization_id: id } = await createOrganization(sql, { name: 'Acme', sandbox: true });
  const recount = { codes: ['calls'], after: null, until: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
  await storage(sql).store(incoming(id, [{}]));
  await sql.begin(async (tx) => {
    expect(await tryHealing({ db: tx, organizationId: id })).toBe(true);
    for (const step of [
      { step: 'heal-events', payload: {} },
      { step: 'recount-unmatched', payload: recount },
    ] as const)
      await expect(run(step, id)).rejects.toThrow(InOtherHands);
  });
});
