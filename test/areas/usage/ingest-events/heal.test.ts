import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { finishOpenBatches } from '../../../../src/areas/usage/ingest-events/finish-batches.ts';
import { healEvents, recountUnmatched } from '../../../../src/areas/usage/ingest-events/heal.ts';
import { tryHealing } from '../../../../src/areas/usage/unmatched-events/lock.ts';
import { Busy } from '../../../../src/platform/busy.ts';
import type { AfterStep, Context } from '../../../../src/platform/context.ts';
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
async function run(first: AfterStep): Promise<string[]> {
  const handlers = { 'heal-events': healEvents, 'recount-unmatched': recountUnmatched };
  const owed = [first];
  const ran: string[] = [];
  for (let step = owed.shift(); step; step = owed.shift()) {
    const { job, payload } = step;
    ran.push(job);
    await database.sql.begin((tx) =>
      handlers[job as keyof typeof handlers](
        {
          organizationId,
          db: tx,
          log: createLog({ level: 'silent', process: 'test' }),
          now: () => Temporal.Instant.from('2024-04-01T00:00:00Z'),
          after: (next: AfterStep) => owed.push(next),
        } as unknown as Context,
        payload as never,
      ),
    );
  }
  return ran;
}

const totals = async () =>
  await database.sql`
    select total.reason, total.count, (
      select count(*) from unmatched_events u
      where u.organization_id = total.organization_id and u.reason = total.reason and u.status = 'open') as rows
    from unmatched_totals total where total.organization_id = ${organizationId} and total.count > 0 order by total.reason`;

test('events that only the totals tell of are found again by their code', async () => {
  await storage(database.sql).store(incoming(organizationId, [{}, {}, {}]));
  await finishOpenBatches(database.sql, organizationId);
  // As if two of them had come beyond the limit of rows.
  await database.sql`
    delete from unmatched_events where event_id in (
      select event_id from unmatched_events where organization_id = ${organizationId} limit 2)`;
  expect(await totals()).toEqual([{ reason: 'metric_not_found', count: 3, rows: 1 }]);
  const metric = await makeMetric(database.sql, organizationId);
  expect(await run({ job: 'heal-events', payload: { metric_ids: [metric.id] } })).toEqual([
    'heal-events',
    'recount-unmatched',
  ]);
  expect(await totals()).toEqual([{ reason: 'subscription_not_found', count: 3, rows: 3 }]);
  expect(await run({ job: 'heal-events', payload: { metric_ids: [metric.id] } })).toEqual(['heal-events']);
});

test('one step serves all requests that wait, and nobody stands in line behind it', async () => {
  const metric = await makeMetric(database.sql, organizationId, { code: 'minutes' });
  await database.sql`
    insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at)
    select gen_random_uuid(), ${organizationId}, 'heal-events', payload, now(), now()
    from unnest(array['{"external_subscription_id":"a"}', '{"external_subscription_id":"b"}',
      '{"run_id":"0192d1f0-0000-7000-8000-000000000001"}']::jsonb[]) as payload`;
  const left = () => database.sql`select payload from after_steps where organization_id = ${organizationId}`;
  await database.sql.begin(async (tx) => {
    expect(await tryHealing(tx, organizationId)).toBe(true);
    await expect(run({ job: 'heal-events', payload: {} })).rejects.toThrow(Busy);
  });
  expect(await left()).toHaveLength(3);

  await storage(database.sql).store(
    incoming(organizationId, [
      { code: 'minutes', external_subscription_id: 'a' },
      { code: 'other', external_subscription_id: 'b' },
      { code: 'other', external_subscription_id: 'c' },
    ]),
  );
  await finishOpenBatches(database.sql, organizationId);
  await makeMetric(database.sql, organizationId, { code: 'other' });
  await run({ job: 'heal-events', payload: { metric_ids: [metric.id] } });
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
