import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOrganization } from '../../../src/areas/tenancy/organizations/commands.ts';
import { retention } from '../../../src/areas/tenancy/retain-rows/delete-by-class.ts';
import { keepLogPartitions, LOG_TABLES } from '../../../src/areas/tenancy/retain-rows/log-partitions.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { Sql } from '../../../src/platform/db/connect.ts';
import { firstIdAt, newId } from '../../../src/platform/ids.ts';
import type { SweepDeps } from '../../../src/platform/periodic-job.ts';
import { scratchDeps } from '../../jobs/advance-clock/scratch.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let sql: Sql;
let organizationId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  sql = database.sql;
});
afterAll(() => database.drop());
beforeEach(async () => {
  organizationId = (await createOrganization(sql, { name: 'Keeper', sandbox: true })).organization_id;
});

const deps = () => scratchDeps(sql) as unknown as SweepDeps;
const daysAgo = (days: number) => realNow().subtract({ hours: 24 * days });
/** An id made so many days ago. */
const idFrom = (days: number) => firstIdAt(daysAgo(days)).slice(0, 24) + newId().slice(24);
const at = (text: string) => Temporal.Instant.from(text);

const rule = (name: string, days: number, of = organizationId) => sql`
  insert into retention_rules (organization_id, class, days, updated_at) values (${of}, ${name}, ${days}, ${realNow()})
  on conflict (organization_id, class) do update set days = excluded.days`;

async function partitions(table: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class join pg_inherits on inhrelid = oid where inhparent = ${table}::regclass
      order by 1`;
  return rows.map(({ name }) => name.slice(table.length + 1));
}

test('partitions exist for this month and the next', async () => {
  const month = realNow().toZonedDateTimeISO('UTC').toPlainDate().toPlainYearMonth();
  const suffixes = [month, month.add({ months: 1 })].map((each) => each.toString().replace('-', '_'));
  await keepLogPartitions(deps(), realNow());
  for (const table of LOG_TABLES)
    expect(await partitions(table)).toEqual(expect.arrayContaining([...suffixes, 'default']));
});

test('log partitions are created ahead, filled, and dropped once the longest retention period has passed', async () => {
  await keepLogPartitions(deps(), at('2031-01-31T12:00:00Z'));
  expect(await partitions('security_logs')).toEqual(['2031_01', '2031_02', 'default']);
  for (const [table, columns] of [
    ['activity_logs', 'activity_type, activity_source, resource_id, resource_type'],
    ['security_logs', 'log_type, log_event'],
  ] as const)
    await sql.unsafe(
      `insert into ${table} (id, organization_id, ${columns}, logged_at, created_at)
       select $1, $2, ${table === 'activity_logs' ? "'a.b', 'api', $1, 'A'" : "'a', 'a.b'"}, '2024-01-01Z', '2031-01-15Z'`,
      [newId(), organizationId],
    );
  const left = async () =>
    [await sql`select from activity_logs_2031_01`, await sql`select from security_logs_2031_01`].map(
      ({ length }) => length,
    );
  expect(await left()).toEqual([1, 1]);
  // 30 days after the end of January, but its last day is within them until 2 March.
  await keepLogPartitions(deps(), at('2031-03-02T00:00:00Z'));
  expect(await left()).toEqual([1, 1]);
  await keepLogPartitions(deps(), at('2031-03-03T00:00:00Z'));
  expect(await partitions('activity_logs')).toEqual(['2031_02', '2031_03', '2031_04', 'default']);
  expect(await partitions('security_logs')).toEqual(['2031_01', '2031_02', '2031_03', '2031_04', 'default']);

  await rule('activity_logs', 60);
  await keepLogPartitions(deps(), at('2031-04-15T00:00:00Z'));
  expect(await partitions('activity_logs')).toEqual(['2031_02', '2031_03', '2031_04', '2031_05', 'default']);
  expect(await partitions('api_logs')).toEqual(['2031_03', '2031_04', '2031_05', 'default']);
  await sql`delete from retention_rules`;
  await sql`update organizations set audit_logs_period_days = 100 where id = ${organizationId}`;
  await keepLogPartitions(deps(), at('2031-05-15T00:00:00Z'));
  expect(await partitions('api_logs')).toEqual(['2031_03', '2031_04', '2031_05', '2031_06', 'default']);
  expect(await partitions('security_logs')).toEqual(['2031_02', '2031_03', '2031_04', '2031_05', '2031_06', 'default']);
  await sql`update organizations set audit_logs_period_days = null`;
});

test('verifications are kept 400 days and healed events 30, or as long as their organization chose', async () => {
  const other = (await createOrganization(sql, { name: 'Other', sandbox: true })).organization_id;
  await rule('verifications', 50, other);
  await rule('unmatched_events', 5, other);
  await sql.begin(async (tx) => {
    await tx.unsafe('set local session_replication_role = replica');
    for (const of of [organizationId, other]) {
      for (const days of [49, 51, 399, 401])
        await tx`
          insert into verifications (id, organization_id, invoice_id, level, status, result, created_at)
          values (${idFrom(days)}, ${of}, ${newId()}, 'inputs', 'equal', '{}', '2001-01-01Z')`;
    }
    for (const of of [organizationId, other]) {
      for (const [status, days] of [
        ['healed', 4],
        ['healed', 6],
        ['healed', 31],
        ['ignored', 31],
        ['open', 31],
      ] as const)
        await tx`
          insert into unmatched_events (organization_id, event_id, reason, code, external_subscription_id,
            event_timestamp, first_seen_at, status, healed_at)
          values (${of}, ${idFrom(days)}, 'unknown_metric', 'x', 'y', '2001-01-01Z', '2001-01-01Z',
            ${status}, ${status === 'healed' ? '2001-01-02Z' : null})`;
    }
  });
  await retention.sweep(deps(), realNow());
  const count = async (table: string, of: string) =>
    (await sql`select from ${sql(table)} where organization_id = ${of}`).length;
  expect(await count('unmatched_events', organizationId)).toBe(3);
  expect(await count('unmatched_events', other)).toBe(2);
  expect(await count('verifications', organizationId)).toBe(3);
  expect(await count('verifications', other)).toBe(1);
});

test('texts of mails go after 90 days and rows after 400, but for those on their way', async () => {
  const mail = async (days: number, status: string) => {
    const id = idFrom(days);
    await sql`
      insert into mails (id, organization_id, is_automatic, recipients, cc, bcc, subject, body, html, status,
        created_at)
      values (${id}, ${organizationId}, false, '{a@b.example}', '{}', '{}', 'Mail', 'Hello', '<p>', ${status},
        ${daysAgo(days)})`;
    return id;
  };
  const kept = [await mail(89, 'sent'), await mail(399, 'failed'), await mail(401, 'pending')];
  for (const status of ['sent', 'failed', 'unsent']) await mail(401, status);
  await retention.sweep(deps(), realNow());
  const rows = await sql<{ id: string; body: string; html: string | null }[]>`
    select id, body, html from mails where organization_id = ${organizationId}`;
  const textOf = new Map(rows.map(({ id, body, html }) => [id, [body, html]]));
  expect(textOf.size).toBe(3);
  expect(kept.map((id) => textOf.get(id))).toEqual([
    ['Hello', '<p>'],
    ['', null],
    ['Hello', '<p>'],
  ]);
});
