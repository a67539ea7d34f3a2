import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { dropFormerKey } from '../../../../src/areas/usage/event-keys/former-key.ts';
import { getEvent } from '../../../../src/areas/usage/events/queries.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import type { Sql } from '../../../../src/platform/db/connect.ts';
import { migrate } from '../../../../src/platform/db/migrate.ts';
import type { OrganizationId } from '../../../../src/platform/ids.ts';
import { projectRoot } from '../../../../src/platform/project-root.ts';
import { createEmptyDatabase, type TestDatabase } from '../../../support/database.ts';
import { until } from '../../../support/until.ts';
import { incoming, storage } from '../ingest-events/build.ts';

// A database that the version before 0083 has filled, in the order of an upgrade: one test follows the other.
const EVENTS = 50_000;
let database: TestDatabase;
let sql: Sql;
let organizationId: OrganizationId;
let former: string;
let folder: string;

beforeAll(async () => {
  database = await createEmptyDatabase();
  sql = database.sql;
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  former = join(folder, 'former');
  await cp(join(projectRoot(), 'migrations'), former, { recursive: true });
  for (const file of await readdir(former)) if (file >= '0083') await rm(join(former, file), { recursive: true });
  await migrate(sql, former);
  organizationId = (await createOrganization(sql, { name: 'Former', sandbox: false }))
    .organization_id as OrganizationId;
  await storeAsFormer(0, EVENTS);
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const sent = (n: number, changes = {}) => ({
  transaction_id: `event-${n}`,
  external_subscription_id: `s${n % 7}`,
  timestamp: 1_700_000_000 + n,
  properties: { n },
  ...changes,
});

/** In the words of the former version; its digests are those of the events that `sent` makes, for the first hundred. */
async function storeAsFormer(first: number, count: number): Promise<void> {
  const { events } = incoming(
    organizationId,
    Array.from({ length: 100 }, (_, n) => sent(first + n)),
  );
  await sql`
    insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
      digest, created_at)
    select (substr(former.id::text, 1, 13) || '-7' || substr(gen_random_uuid()::text, 16))::uuid, ${organizationId},
      's' || n % 7, 'event-' || n, 'calls', to_timestamp(1700000000 + n), jsonb_build_object('n', n),
      coalesce(decode((${events.map(({ digest }) => digest)}::text[])[n - ${first}::int + 1], 'hex'), '\\x00'), now()
    from generate_series(${first}::int, ${first + count - 1}::int) as n
    cross join lateral (select lpad(to_hex((extract(epoch from now()) * 1000)::bigint - 90 * 86400000::bigint + n), 12,
      '0') || lpad('', 20, '0') as digits) made
    cross join lateral (select made.digits::uuid as id) former
    on conflict (organization_id, transaction_id, external_subscription_id) do nothing`;
}

const counted = async () =>
  (
    await sql<[{ events: number; keys: number; pairs: number }]>`
      select (select count(*)::int from events) as events, (select count(*)::int from event_keys) as keys,
        (select count(*)::int from event_keys key join events e on e.id = key.event_id
          and key.transaction_hash = event_hash(e.transaction_id)
          and key.subscription_hash = event_hash(e.external_subscription_id)) as pairs`
  )[0];

/** Twenty events as they are stored, twenty others under the same keys, and as many new ones. */
async function verdicts(first: number): Promise<string[]> {
  const range = Array.from({ length: 20 }, (_, n) => n);
  const events = [
    ...range.map((n) => sent(n)),
    ...range.map((n) => sent(n, { properties: { n: -1 } })),
    ...range.map((n) => sent(first + n)),
  ];
  const [found] = await storage(sql).store(incoming(organizationId, events, { atomic: false }));
  return found!.map((verdict) => (typeof verdict === 'object' ? Object.keys(verdict).join() : String(verdict)));
}

const EXPECTED = [...Array(20).fill('r'), ...Array(20).fill('1'), ...Array(20).fill('0')];

test('keys of stored events are filled page by page, go on after an end, and the former version stores meanwhile', async () => {
  const filling = join(folder, 'filling');
  await cp(former, filling, { recursive: true });
  await cp(
    join(projectRoot(), 'migrations/0083_keep_keys_of_events.sql'),
    join(filling, '0083_keep_keys_of_events.sql'),
  );
  await migrate(sql, filling);
  const filled = sql`call fill_event_keys()`.execute();
  const [own] = await ended(filled);
  expect(own).toBe('57014');
  const [page] = await sql<{ last_event_id: string }[]>`select last_event_id from event_keys_filling`;
  expect(page!.last_event_id > '00000000-0000-0000-0000-000000000000').toBe(true);
  const { keys } = await counted();
  expect(keys).toBeGreaterThan(0);
  expect(keys).toBeLessThan(EVENTS);
  await storeAsFormer(EVENTS, 100);
  await storeAsFormer(0, 100);
  expect(await migrate(sql)).toContain('0085_drop_former_key_of_events.sql');
  expect(await counted()).toEqual({ events: EVENTS + 100, keys: EVENTS + 100, pairs: EVENTS + 100 });
});

/** Cancels the filling after its first page. */
async function ended(filled: Promise<unknown>): Promise<[string | undefined]> {
  const failed = filled.then(
    () => undefined,
    (error: { code: string }) => error.code,
  );
  await until(async () => (await sql`select from event_keys limit 1`).length > 0);
  await sql`select pg_cancel_backend(pid) from pg_stat_activity
    where query like 'call fill_event_keys%' and pid <> pg_backend_pid() and datname = current_database()`;
  return [await failed];
}

test('beside the former version, the new one stores, repeats and refuses events', async () => {
  expect(await verdicts(100_000)).toEqual(EXPECTED);
  await storeAsFormer(100_100, 100);
  expect(await counted()).toEqual({ events: EVENTS + 220, keys: EVENTS + 220, pairs: EVENTS + 220 });
});

const hasFormerKey = async () =>
  (
    await sql`
    select from pg_class where relname = 'events_transaction'
    union all select from pg_trigger where tgname = 'events_keep_keys'`
  ).length;

test('the former key goes when there was time to replace the former version, and all is answered as before', async () => {
  await dropFormerKey({ sql }, realNow());
  expect(await hasFormerKey()).toBe(2);
  await dropFormerKey({ sql }, realNow().add({ hours: 2 }));
  await dropFormerKey({ sql }, realNow().add({ hours: 26 }));
  expect(await hasFormerKey()).toBe(0);
  expect(await verdicts(100_300)).toEqual(EXPECTED);
  expect(await getEvent({ db: sql, organizationId }, 'event-12')).toMatchObject({ transaction_id: 'event-12' });
  expect(await counted()).toEqual({ events: EVENTS + 240, keys: EVENTS + 240, pairs: EVENTS + 240 });
});
