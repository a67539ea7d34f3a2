import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditHours } from '../../../../src/areas/usage/build-shapes/repair-hours.ts';
import { openStore } from '../../../../src/areas/usage/event-retention/archive-store.ts';
import { removeOldEvents } from '../../../../src/areas/usage/event-retention/remove-old-events.ts';
import { releaseMonth, restoreMonth } from '../../../../src/areas/usage/event-retention/restore-events.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import type { OrganizationId } from '../../../../src/platform/ids.ts';
import type { SweepDeps } from '../../../../src/platform/periodic-job.ts';
import { scratchDeps } from '../../../jobs/advance-clock/scratch.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';

// Retention of raw events (retention.md#raw-events), in the order of a life: one test follows the other.
let service: TestService;
let story: Story;
let folder: string;
let organizationId: OrganizationId;
let march: Invoice;

const CALLS_A_MONTH = 40;
const month = realNow().toZonedDateTimeISO('UTC').with({ day: 1 }).toPlainDate();
/** Half a year from now, when what was billed today is older than 90 days. */
const later = realNow().add({ hours: 24 * 180 });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archive-'));
  service = await startService();
  story = await openStory(service, '2024-03-01T10:20:00Z');
  await story.customer();
  const metric = async (code: string, fields: object): Promise<string> => {
    const made = await story.client.post('/billable_metrics', { billable_metric: { name: code, code, ...fields } });
    return made.body.billable_metric.svc_id;
  };
  const sum = await metric('calls', { aggregation_type: 'sum_agg', field_name: 'calls' });
  const seats = await metric('seats', { aggregation_type: 'unique_count_agg', field_name: 'seat', recurring: true });
  await story.plan({
    amount_cents: 1000,
    charges: [
      {
        billable_metric_id: sum,
        charge_model: 'standard',
        properties: { amount: '0.5', pricing_group_keys: ['zone'] },
      },
      { billable_metric_id: seats, charge_model: 'standard', properties: { amount: '7' } },
    ],
  });
  await story.subscribe();
  await send('first', 'calls', '2024-03-01T10:30:00Z', { calls: 1, zone: 'a' });
  await send('seat', 'seats', '2024-03-05T00:00:00Z', { seat: 'one' });
  await send('odd', 'unknown', '2024-03-09T00:00:00Z', {});
  await sendCalls('march', '2024-03');
  await amend('march-7', { calls: 100, zone: 'a' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  [march] = await story.invoices(1);
  await sendCalls('april', '2024-04');
  await story.advanceTo('2024-05-02T00:00:00Z');
  await story.invoices(2);
  await send('may', 'calls', '2024-05-01T00:30:00Z', { calls: 3, zone: 'a' });
  const [row] = await service.sql<[{ id: OrganizationId }]>`
    select organization_id as id from events where transaction_id = 'first'`;
  organizationId = row!.id;
  await service.sql`
    insert into retention_rules (organization_id, class, days, updated_at)
    values (${organizationId}, 'events_raw', 90, now())`;
}, 120_000);
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const event = (id: string, code: string, at: string, properties: object) => ({
  event: {
    transaction_id: id,
    external_subscription_id: 'sub',
    code,
    timestamp: Date.parse(at) / 1000,
    properties,
  },
});

async function send(id: string, code: string, at: string, properties: object) {
  const answer = await story.client.post('/events', event(id, code, at, properties));
  expect(answer.status).toBe(200);
  return answer.body.event;
}

const callAt = (n: number, in_: string) => `${in_}-${String((n % 27) + 2).padStart(2, '0')}T0${n % 9}:15:00Z`;

async function sendCalls(name: string, in_: string): Promise<void> {
  for (let n = 0; n < CALLS_A_MONTH; n += 1)
    await send(`${name}-${n}`, 'calls', callAt(n, in_), { calls: n, zone: n % 2 ? 'a' : 'b' });
}

const amend = (transaction_id: string, properties: object) =>
  story.client.post('/events/corrections', {
    correction: { kind: 'amend', reason: 'wrong', external_subscription_id: 'sub', transaction_id, properties },
  });

const deps = (settings = {}) => {
  const made = scratchDeps(service.sql) as unknown as SweepDeps;
  const config = { ...made.config, EVENTS_ARCHIVE_URL: pathToFileURL(folder).href, ...settings };
  return { ...made, config } as SweepDeps;
};

/** One run closes, the next one removes. */
async function removeAll(at = later): Promise<void> {
  await removeOldEvents(deps(), at);
  await removeOldEvents(deps(), at.add({ hours: 24 }));
}

const stored = async () =>
  (
    await service.sql<{ transaction_id: string }[]>`
      select transaction_id from events where organization_id = ${organizationId} order by 1`
  ).map(({ transaction_id }) => transaction_id);

async function verify(level: 'inputs' | 'events') {
  const answer = await story.client.post(`/invoices/${march.svc_id}/verify`, { verification: { level } });
  return answer.body.verification;
}

const usage = async () => {
  const ask = async (path: string) => {
    const answer = await story.client.get(path);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  return [
    await ask('/customers/acme/current_usage?external_subscription_id=sub'),
    await ask('/customers/acme/past_usage?external_subscription_id=sub'),
    await ask('/subscriptions/sub/lifetime_usage'),
  ];
};

test('nothing is closed or removed before its invoice is older than the organization keeps raw events', async () => {
  const before = await stored();
  await removeAll(realNow().add({ hours: 24 * 80 }));
  expect(await stored()).toEqual(before);
  expect(await service.sql`select from event_horizons`).toHaveLength(0);
});

test('a removal that is ended between archive and deletion goes on, and usage stays as it was (ER5)', async () => {
  const before = await usage();
  await removeOldEvents(deps(), later);
  expect(await stored()).toHaveLength(2 * CALLS_A_MONTH + 4);
  let holds = 0;
  const ended = removeOldEvents(deps(), later.add({ hours: 24 }), async () => {
    holds += 1;
    if (holds === 2) throw new Error('lease lost');
  });
  await expect(ended).rejects.toThrow('lease lost');
  expect(await service.sql`select from event_archives where removed_at is null`).toHaveLength(1);
  expect(await stored()).toHaveLength(2 * CALLS_A_MONTH + 4);
  await removeOldEvents(deps(), later.add({ hours: 48 }));
  // What carries over, what nothing bills yet, the window in progress, and the hour in which the subscription began.
  expect(await stored()).toEqual(['first', 'may', 'odd', 'seat']);
  expect(await service.sql`select sum(events_count)::int as events from removed_events`).toEqual([
    { events: 2 * CALLS_A_MONTH },
  ]);
  expect(await service.sql`select from event_archives`).toHaveLength(1);
  expect(await usage()).toEqual(before);
});

test('an event sent again after it was removed is replayed, and refused with another content (SC6)', async () => {
  const [key] = await service.sql<[{ id: string }]>`
    select event_id as id from event_keys where organization_id = ${organizationId}
      and transaction_hash = event_hash('march-3')`;
  const again = event('march-3', 'calls', callAt(3, '2024-03'), { calls: 3, zone: 'a' });
  const replayed = await story.client.post('/events', again);
  expect(replayed.status).toBe(200);
  expect(replayed.body.event.svc_id).toBe(key.id);
  const other = await story.client.post('/events', event('march-3', 'calls', callAt(3, '2024-03'), { calls: 4 }));
  expect(other.status).toBe(422);
  expect(other.body.error_details).toEqual({ transaction_id: ['value_already_exist'] });
  expect(await stored()).not.toContain('march-3');
});

test('sums of removed events are neither mended nor found to differ', async () => {
  expect(await auditHours(service.sql, deps().log, 'all')).toMatchObject({ repaired: 0 });
  await service.sql`
    insert into usage_dirty_hours (organization_id, shape_id, external_subscription_id, hour)
    select distinct organization_id, shape_id, external_subscription_id, hour from usage_buckets
    where organization_id = ${organizationId}`;
  const sums = () => service.sql`
    select hour, events_count, sum from usage_buckets where organization_id = ${organizationId}
    order by hour, group_hash`;
  const before = await sums();
  await auditHours(service.sql, deps().log, 'all');
  expect(await sums()).toEqual(before);
});

test('corrections of a closed time are refused, and those of units that carry over are not', async () => {
  const refused = { status: 422, body: { error_details: { base: ['value_is_out_of_range'] } } };
  expect(await amend('march-3', { calls: 5 })).toMatchObject(refused);
  expect(await amend('first', { calls: 5 })).toMatchObject(refused);
  const correct = (correction: object) =>
    story.client.post('/events/corrections', {
      correction: { reason: 'wrong', external_subscription_id: 'sub', dry_run: true, ...correction },
    });
  const range = { kind: 'retract_range', timestamp_from: '2024-04-30T00:00:00Z', timestamp_to: '2024-05-01T12:00:00Z' };
  expect(await correct({ ...range, code: 'calls' })).toMatchObject(refused);
  expect(await correct({ kind: 'amend', transaction_id: 'may', timestamp: 1_713_139_200 })).toMatchObject(refused);
  expect((await correct({ ...range, code: 'seats' })).status).toBe(200);
  expect((await correct({ kind: 'retract', transaction_id: 'may' })).status).toBe(200);
  expect((await correct({ kind: 'retract', transaction_id: 'seat' })).status).toBe(200);
});

test('an invoice of removed events is verified by inputs, and by events once they are restored (SC7)', async () => {
  expect(await verify('inputs')).toMatchObject({ status: 'equal' });
  const verification = await verify('events');
  expect(verification).toMatchObject({ status: 'not_verifiable', differences: [] });
  expect(verification.not_verified.map(({ reason }: { reason: string }) => reason)).toEqual([
    'events_removed',
    'events_removed',
  ]);
  const of = { organizationId, month, now: realNow() };
  const store = openStore(pathToFileURL(folder).href);
  const all = { restored: 2 * CALLS_A_MONTH, removed: 2 * CALLS_A_MONTH };
  expect(await restoreMonth(service.sql, store, of)).toEqual(all);
  expect(await restoreMonth(service.sql, store, of)).toEqual(all);
  expect(await verify('events')).toMatchObject({ status: 'equal', differences: [], not_verified: [] });
  const shown = await story.client.get('/events/march-7');
  expect(shown.body.event).toMatchObject({ transaction_id: 'march-7', properties: { calls: 100, zone: 'a' } });
  const versions = await story.client.get('/events/march-7/versions?external_subscription_id=sub');
  expect(versions.body.event_versions.map(({ properties }: Invoice) => properties.calls)).toEqual([7, 100]);
  expect(await amend('march-3', { calls: 5 })).toMatchObject({ status: 422 });
  expect(await releaseMonth(service.sql, of)).toBe(2 * CALLS_A_MONTH);
  expect(await verify('events')).toMatchObject({ status: 'not_verifiable' });
  expect((await story.client.get('/events/march-7')).status).toBe(404);
});

test('a late event for a closed time is stored and settles nothing, unless its units carry over', async () => {
  const settings = { usage_policies: { late_events: 'debit_invoice' } };
  expect((await story.client.put('/organizations/settings', { settings })).status).toBe(200);
  await send('very-late', 'calls', '2024-03-20T00:00:00Z', { calls: 1000, zone: 'a' });
  await send('late-seat', 'seats', '2024-03-20T00:00:00Z', { seat: 'two' });
  await story.advanceTo('2024-05-02T04:00:00Z');
  const settled = await service.sql<{ transaction_id: string; status: string }[]>`
    select e.transaction_id, correction.status from taken_late_events taken
    join events e on e.id = taken.event_id
    join event_corrections correction on correction.id = taken.correction_id`;
  expect(settled).toEqual([{ transaction_id: 'late-seat', status: 'settled' }]);
});

test('a file of the archive that was changed is named, and restores nothing', async () => {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.parquet'));
  expect(names).toHaveLength(1);
  const file = join(folder, names[0]!);
  const manifest = JSON.parse(await readFile(file.replace(/parquet$/, 'json'), 'utf8'));
  expect(manifest).toMatchObject({ version: 1, events_count: 2 * CALLS_A_MONTH, path: names[0] });
  const bytes = await readFile(file);
  bytes[100]! ^= 1;
  await writeFile(file, bytes);
  const store = openStore(pathToFileURL(folder).href);
  const restored = restoreMonth(service.sql, store, { organizationId, month, now: realNow() });
  await expect(restored).rejects.toThrow(`${names[0]}: another file than was archived`);
  expect(await service.sql`select from restored_events`).toHaveLength(0);
});

test('restored events have the columns of events', async () => {
  const columns = (table: string) => service.sql`
    select column_name, data_type from information_schema.columns
    where table_schema = current_schema and table_name = ${table} order by ordinal_position`;
  expect(await columns('restored_events')).toEqual(await columns('events'));
});

test('without an archive old events are removed all the same', async () => {
  const at = Temporal.Instant.from(later.add({ hours: 24 * 60 }).toString());
  await story.advanceTo('2024-06-02T00:00:00Z');
  await removeOldEvents(deps({ EVENTS_ARCHIVE_URL: undefined }), at);
  await removeOldEvents(deps({ EVENTS_ARCHIVE_URL: undefined }), at.add({ hours: 24 }));
  expect(await stored()).toEqual(['first', 'late-seat', 'odd', 'seat']);
});
