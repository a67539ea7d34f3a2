import { afterAll, beforeAll, expect, test } from 'vitest';
import { json } from '../../../src/platform/db/values.ts';
import type { Client } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Corrections of events in periods that are not invoiced: event-corrections.md.
let service: TestService;
let client: Client & { organization: { organization_id: string } };
const NOW = '2024-03-20T12:00:00Z';
const METRICS = [
  { code: 'calls', aggregation_type: 'count_agg' },
  { code: 'storage', aggregation_type: 'sum_agg', field_name: 'gb' },
  { code: 'peak', aggregation_type: 'max_agg', field_name: 'gb' },
  { code: 'seats', aggregation_type: 'latest_agg', field_name: 'gb' },
  { code: 'users', aggregation_type: 'unique_count_agg', field_name: 'user' },
  { code: 'disk', aggregation_type: 'sum_agg', field_name: 'gb', recurring: true },
  { code: 'held', aggregation_type: 'weighted_sum_agg', field_name: 'gb', weighted_interval: 'seconds' },
  {
    code: 'cost',
    aggregation_type: 'sum_agg',
    field_name: 'sum',
    expression: 'event.properties.a * event.properties.b',
  },
];

beforeAll(async () => {
  service = await startService();
  client = await service.org({ sandbox: true });
  await ok(client.post('/test_clock', { test_clock: { frozen_time: NOW } }));
  const charges = [];
  for (const metric of METRICS) {
    const { billable_metric } = await ok(
      client.post('/billable_metrics', { billable_metric: { name: metric.code, ...metric } }),
    );
    charges.push({
      billable_metric_id: billable_metric.svc_id,
      code: metric.code,
      charge_model: 'standard',
      properties: { amount: '1', ...(metric.code === 'calls' ? { pricing_group_keys: ['team'] } : {}) },
    });
  }
  await ok(
    client.post('/plans', {
      plan: {
        name: 'P',
        code: 'plan',
        interval: 'monthly',
        amount_cents: 0,
        amount_currency: 'USD',
        pay_in_advance: false,
        charges,
      },
    }),
  );
});
afterAll(() => service.stop());

let customers = 0;

/** A customer with a subscription of its own since February; its external id is both theirs. */
async function subscription(): Promise<string> {
  customers += 1;
  const id = `c${customers}`;
  await ok(client.post('/customers', { customer: { external_id: id, currency: 'USD' } }));
  await ok(
    client.post('/subscriptions', {
      subscription: {
        external_customer_id: id,
        external_id: id,
        plan_code: 'plan',
        subscription_at: '2024-03-02T00:00:00Z',
      },
    }),
  );
  return id;
}

const seconds = (iso: string) => Date.parse(iso) / 1000;

const event = (id: string, transaction_id: string, code: string, at: string, properties: object = {}) => ({
  transaction_id,
  external_subscription_id: id,
  code,
  timestamp: seconds(at),
  properties,
});

const send = (sent: object) => client.post('/events', { event: sent });

const correct = (id: string, correction: object) =>
  client.post('/events/corrections', {
    correction: { reason: 'wrong meter', external_subscription_id: id, ...correction },
  });

/** Units by metric, and by team for the grouped one. */
async function usage(id: string): Promise<Record<string, string>> {
  const { customer_usage } = await ok(client.get(`/customers/${id}/current_usage?external_subscription_id=${id}`));
  return Object.fromEntries(
    customer_usage.charges_usage.flatMap(
      (each: { units: string; charge: { code: string }; grouped_usage: { grouped_by: object; units: string }[] }) => [
        [each.charge.code, each.units],
        ...each.grouped_usage.map((group) => [`${each.charge.code} ${JSON.stringify(group.grouped_by)}`, group.units]),
      ],
    ),
  );
}

test('retracting an event takes its usage away at once, whatever the aggregation', async () => {
  const id = await subscription();
  await send(event(id, 'a', 'calls', '2024-03-05T10:10:00Z', { team: 'red' }));
  await send(event(id, 'b', 'calls', '2024-03-05T10:20:00Z', { team: 'blue' }));
  await send(event(id, 'c', 'storage', '2024-03-05T10:20:00Z', { gb: '12' }));
  await send(event(id, 'd', 'storage', '2024-03-05T10:30:00Z', { gb: '-2.5' }));
  await send(event(id, 'e', 'peak', '2024-03-05T10:20:00Z', { gb: '7' }));
  await send(event(id, 'f', 'peak', '2024-03-05T10:30:00Z', { gb: '9' }));
  await send(event(id, 'g', 'seats', '2024-03-05T10:20:00Z', { gb: '3' }));
  await send(event(id, 'h', 'seats', '2024-03-05T10:30:00Z', { gb: '4' }));
  await send(event(id, 'i', 'users', '2024-03-05T10:20:00Z', { user: 'ada' }));
  await send(event(id, 'j', 'users', '2024-03-05T10:30:00Z', { user: 'bob' }));
  await send(event(id, 'k', 'disk', '2024-01-05T10:30:00Z', { gb: '5' }));
  expect(await usage(id)).toMatchObject({
    'calls {"team":"blue"}': '1.0',
    'calls {"team":"red"}': '1.0',
    storage: '9.5',
    peak: '9.0',
    seats: '4.0',
    users: '2.0',
    disk: '5.0',
  });
  for (const transaction_id of ['b', 'd', 'f', 'h', 'j', 'k'])
    expect(await correct(id, { kind: 'retract', transaction_id })).toMatchObject({
      status: 200,
      body: { correction: { kind: 'retract', status: 'settled', events_count: 1, policy: 'next_invoice' } },
    });
  const after = await usage(id);
  expect(after).toMatchObject({
    calls: '1.0',
    'calls {"team":"red"}': '1.0',
    storage: '12.0',
    peak: '7.0',
    seats: '3.0',
    users: '1.0',
    disk: '0.0',
  });
  expect(after).not.toHaveProperty('calls {"team":"blue"}');
  expect((await client.get('/events/b')).status).toBe(404);
});

test('a weighted sum follows amended and retracted values and times', async () => {
  const id = await subscription();
  // March has 31 days: a value held from the 17th on weighs 15 of them.
  await send(event(id, 'w1', 'held', '2024-03-17T00:00:00Z', { gb: '31' }));
  await send(event(id, 'w2', 'held', '2024-03-17T00:30:00Z', { gb: '62' }));
  expect((await usage(id)).held).toBe('44.95833333333333333334'); // 31 × 15/31 + 62 × (15 − 1/48)/31
  expect((await correct(id, { kind: 'retract', transaction_id: 'w2' })).status).toBe(200);
  expect((await usage(id)).held).toBe('15.0');
  const moved = { kind: 'amend', transaction_id: 'w1', timestamp: seconds('2024-03-27T00:00:00Z') };
  expect((await correct(id, moved)).status).toBe(200);
  expect((await usage(id)).held).toBe('5.0');
  const doubled = { kind: 'amend', transaction_id: 'w1', properties: { gb: '62' } };
  expect((await correct(id, doubled)).status).toBe(200);
  expect((await usage(id)).held).toBe('10.0');
});

test('amended properties go through the expression of their metric', async () => {
  const id = await subscription();
  await send(event(id, 'x1', 'cost', '2024-03-05T10:00:00Z', { a: 3, b: 4 }));
  expect((await usage(id)).cost).toBe('12.0');
  const amended = await correct(id, { kind: 'amend', transaction_id: 'x1', properties: { a: 5, b: '2.5' } });
  expect(amended.status, amended.text).toBe(200);
  expect((await usage(id)).cost).toBe('12.5');
  expect((await client.get('/events/x1')).body.event.properties).toMatchObject({ a: 5, b: '2.5', sum: '12.5' });
  const failing = await correct(id, { kind: 'amend', transaction_id: 'x1', properties: { a: 5 } });
  expect(failing).toMatchObject({
    status: 422,
    body: { error_details: { expression: ['expression_evaluation_failed: Variable: b not found'] } },
  });
  expect((await usage(id)).cost).toBe('12.5');
});

test('an amendment moves usage to another value, group and period', async () => {
  const id = await subscription();
  await send(event(id, 'm1', 'storage', '2024-03-05T10:20:00Z', { gb: '10' }));
  await send(event(id, 'm2', 'calls', '2024-03-05T10:20:00Z', { team: 'red' }));
  await send(event(id, 'm3', 'peak', '2024-03-05T10:20:00Z', { gb: '8' }));
  await send(event(id, 'm4', 'peak', '2024-03-05T10:40:00Z', { gb: '6' }));
  await correct(id, { kind: 'amend', transaction_id: 'm1', properties: { gb: 4 } });
  await correct(id, { kind: 'amend', transaction_id: 'm2', properties: { team: 'blue' } });
  await correct(id, { kind: 'amend', transaction_id: 'm3', timestamp: seconds('2024-03-01T00:00:00Z') });
  const after = await usage(id);
  expect(after).toMatchObject({ storage: '4.0', 'calls {"team":"blue"}': '1.0', peak: '6.0' });
  expect(after).not.toHaveProperty('calls {"team":"red"}');
  expect((await client.get('/events/m3')).body.event).toMatchObject({ timestamp: '2024-03-01T00:00:00.000Z' });
});

test('an event is retracted once, and a producer who sends it again gets the first answer (CO9, CO10)', async () => {
  const id = await subscription();
  const sent = event(id, 'co9', 'storage', '2024-03-05T10:20:00Z', { gb: '2' });
  const first = await send(sent);
  await ok(correct(id, { kind: 'amend', transaction_id: 'co9', properties: { gb: '3' } }));
  await ok(correct(id, { kind: 'retract', transaction_id: 'co9' }));
  const second = await correct(id, { kind: 'retract', transaction_id: 'co9' });
  expect(second).toMatchObject({ status: 404, body: { code: 'object_not_found', resource: 'event' } });
  const again = await send(sent);
  expect([again.status, again.body, again.headers['x-svc-replayed']]).toEqual([200, first.body, 'true']);
  const other = await send({ ...sent, properties: { gb: '3' } });
  expect(other.body.error_details).toEqual({ transaction_id: ['value_already_exist'] });
  expect(await usage(id)).toMatchObject({ storage: '0.0' });
});

test('the trail of an event shows what it was, who changed it, when and why', async () => {
  const id = await subscription();
  await send(event(id, 'v', 'storage', '2024-03-05T10:20:00Z', { gb: '2' }));
  const amended = await ok(
    correct(id, { kind: 'amend', transaction_id: 'v', properties: { gb: '12345678901234567890.5' } }),
  );
  const retracted = await ok(correct(id, { kind: 'retract', transaction_id: 'v', reason: 'test meter' }));
  const { event_versions } = await ok(client.get(`/events/v/versions?external_subscription_id=${id}`));
  const common = { code: 'storage', timestamp: '2024-03-05T10:20:00.000Z', precise_total_amount_cents: null };
  expect(event_versions).toEqual([
    {
      ...common,
      version: 1,
      properties: { gb: '2' },
      valid_from: NOW,
      valid_to: NOW,
      svc_correction_id: null,
      retracted: false,
    },
    {
      ...common,
      version: 2,
      properties: { gb: '12345678901234567890.5' },
      valid_from: NOW,
      valid_to: NOW,
      svc_correction_id: amended.correction.svc_id,
      retracted: false,
    },
    {
      ...common,
      version: 3,
      properties: { gb: '12345678901234567890.5' },
      valid_from: NOW,
      valid_to: NOW,
      svc_correction_id: retracted.correction.svc_id,
      retracted: true,
    },
  ]);
  const list = await ok(client.get(`/events/corrections?external_subscription_id=${id}&kinds[]=retract`));
  expect(list).toMatchObject({
    corrections: [{ svc_id: retracted.correction.svc_id, reason: 'test meter', created_at: NOW }],
    meta: { total_count: 1 },
  });
  expect(list.corrections[0]).not.toHaveProperty('adjustments');
  const [log] = await service.sql`
    select api_key_id, resource_id, external_subscription_id from activity_logs
    where activity_type = 'event_correction.created' and resource_id = ${retracted.correction.svc_id}`;
  expect(log).toMatchObject({ api_key_id: retracted.correction.svc_api_key_id, external_subscription_id: id });
  const { correction } = await ok(client.get(`/events/corrections/${amended.correction.svc_id}`));
  expect(correction).toMatchObject({
    kind: 'amend',
    input: { properties: { gb: '12345678901234567890.5' } },
    adjustments: [],
  });
});

test('an event that cannot be corrected is refused with its reason, and nothing changes', async () => {
  const id = await subscription();
  await send(event(id, 'r', 'storage', '2024-03-05T10:20:00Z', { gb: '2' }));
  const errors = async (correction: object) => (await correct(id, correction)).body.error_details;
  expect(await errors({ kind: 'retract', transaction_id: 'r', reason: ' ' })).toEqual({
    reason: ['value_is_mandatory'],
  });
  expect(await errors({ kind: 'retract', transaction_id: 'r', reason: 'x'.repeat(256) })).toEqual({
    reason: ['value_is_too_long'],
  });
  expect(await errors({ kind: 'undo', transaction_id: 'r' })).toEqual({ kind: ['value_is_invalid'] });
  expect(await errors({ kind: 'replace_range' })).toEqual({ kind: ['unsupported_value'] });
  expect(await errors({ kind: 'retract', transaction_id: 'r', policy: 'x', credit_note_part: 'y' })).toEqual({
    policy: ['value_is_invalid'],
    credit_note_part: ['value_is_invalid'],
  });
  expect(await errors({ kind: 'amend', transaction_id: 'r' })).toEqual({ base: ['value_already_exist'] });
  expect(await errors({ kind: 'amend', transaction_id: 'r', properties: { gb: '2' } })).toEqual({
    base: ['value_already_exist'],
  });
  expect(await errors({ kind: 'amend', transaction_id: 'r', code: 'calls', properties: { gb: '3' } })).toEqual({
    code: ['value_must_be_blank'],
  });
  expect(await errors({ kind: 'amend', transaction_id: 'r', timestamp: '2024-03-01' })).toEqual({
    timestamp: ['invalid_format'],
  });
  expect(await errors({ kind: 'retract', transaction_id: 'r', timestamp: 1 })).toEqual({
    timestamp: ['value_must_be_blank'],
  });
  expect((await correct(id, { kind: 'retract', transaction_id: 'unknown' })).status).toBe(404);
  expect((await client.get(`/events/corrections?external_subscription_id=${id}`)).body.meta.total_count).toBe(0);
  expect(await usage(id)).toMatchObject({ storage: '2.0' });
});

test('an amended value that the metric cannot count is stored with a warning', async () => {
  const id = await subscription();
  await send(event(id, 'w', 'storage', '2024-03-05T10:20:00Z', { gb: '2' }));
  const { correction } = await ok(correct(id, { kind: 'amend', transaction_id: 'w', properties: { gb: '1e3' } }));
  expect(correction.adjustments).toMatchObject([{ warning: 'property_not_numeric', delta_amount_cents: null }]);
  expect(await usage(id)).toMatchObject({ storage: '0.0' });
  const { adjustments } = await ok(client.get(`/events/corrections/${correction.svc_id}/adjustments`));
  expect(adjustments).toEqual(correction.adjustments);
});

test('a dry run of a correction reports what would change and changes nothing', async () => {
  const id = await subscription();
  await send(event(id, 'p', 'storage', '2024-03-05T10:20:00Z', { gb: '2' }));
  const { correction } = await ok(correct(id, { kind: 'retract', transaction_id: 'p', dry_run: true }));
  expect(correction).toMatchObject({ status: 'previewed', dry_run: true, events_count: 1 });
  expect(await usage(id)).toMatchObject({ storage: '2.0' });
  expect((await ok(client.get('/events/p/versions'))).event_versions).toHaveLength(1);
});

test('a range is retracted as it was when it was requested', async () => {
  const id = await subscription();
  for (let n = 0; n < 5; n += 1)
    await send(event(id, `s${n}`, 'storage', `2024-03-05T1${n}:00:00Z`, { gb: '1', region: n < 3 ? 'eu' : null }));
  await send(event(id, 's5', 'calls', '2024-03-05T12:00:00Z', { region: 'eu' }));
  const range = {
    kind: 'retract_range',
    code: 'storage',
    timestamp_from: '2024-03-05T11:00:00Z',
    timestamp_to: '2024-03-05T14:00:00Z',
  };
  expect((await correct(id, { ...range, expected_count: 3 })).body.error_details).toEqual({
    expected_count: ['value_is_invalid'],
  });
  const { correction } = await ok(correct(id, { ...range, properties: { region: 'eu' }, expected_count: 2 }));
  expect(correction).toMatchObject({ status: 'pending', events_count: 2, progress: { done: 0, total: 2, percent: 0 } });
  const settled = await until(async () => {
    const shown = (await ok(client.get(`/events/corrections/${correction.svc_id}`))).correction;
    return shown.status === 'settled' ? shown : undefined;
  });
  expect(settled.progress).toEqual({ done: 2, total: 2, percent: 100 });
  expect(await usage(id)).toMatchObject({ storage: '3.0', calls: '1.0' });
  const retry = await client.post(`/events/corrections/${correction.svc_id}/retry`, {});
  expect(retry).toMatchObject({ status: 405, body: { code: 'invalid_status' } });
});

test('two corrections of one event at the same time have one effect each, in order', async () => {
  const id = await subscription();
  await send(event(id, 'x', 'storage', '2024-03-05T10:20:00Z', { gb: '2' }));
  const answers = await Promise.all([
    ...[3, 4, 5, 6].map((gb) => correct(id, { kind: 'amend', transaction_id: 'x', properties: { gb } })),
    correct(id, { kind: 'retract', transaction_id: 'x' }),
    correct(id, { kind: 'retract', transaction_id: 'x' }),
  ]);
  const statuses = answers.map(({ status }) => status);
  expect(statuses.slice(4).sort()).toEqual([200, 404]);
  const done = statuses.filter((status) => status === 200).length;
  const { event_versions } = await ok(client.get('/events/x/versions'));
  expect(event_versions).toHaveLength(done + 1);
  expect(await usage(id)).toMatchObject({ storage: '0.0' });
});

test('a correction that may touch invoices requires the permission to write them', async () => {
  const id = await subscription();
  await send(event(id, 'y', 'storage', '2024-03-05T10:20:00Z', { gb: '2' }));
  const other = await service.org();
  const key = other.organization.organization_id;
  await service.sql`
    update api_keys set permissions = ${json({ event_correction: ['read', 'write'], event: ['write'] })}
    where organization_id = ${key}`;
  const ask = (policy?: string) =>
    other.post('/events/corrections', {
      correction: { kind: 'retract', reason: 'r', external_subscription_id: 's', transaction_id: 't', policy },
    });
  await until(async () => ((await ask()).status === 403 ? true : undefined));
  expect((await ask()).body.code).toBe('write_action_not_allowed_for_invoice');
  expect((await ask('ignore')).status).toBe(404);
});

test('an amended event is matched again or listed as unmatched, and a retracted one leaves that list', async () => {
  const id = await subscription();
  const unmatched = async (status: string) => {
    const { unmatched_events } = await ok(
      client.get(`/events/unmatched?external_subscription_id=${id}&statuses[]=${status}`),
    );
    return unmatched_events.map((each: { event: { transaction_id: string }; reason: string }) => [
      each.event.transaction_id,
      each.reason,
    ]);
  };
  const becomes = (status: string, expected: string[][]) =>
    until(async () =>
      JSON.stringify((await unmatched(status)).sort()) === JSON.stringify(expected) ? true : undefined,
    );
  await send(event(id, 'u1', 'storage', '2024-03-05T10:00:00Z', { gb: 'x' }));
  await send(event(id, 'u2', 'storage', '2024-03-05T10:00:00Z', { gb: 'y' }));
  await send(event(id, 'u3', 'storage', '2024-03-05T10:00:00Z', { gb: '3' }));
  await becomes('open', [
    ['u1', 'property_not_numeric'],
    ['u2', 'property_not_numeric'],
  ]);
  await ok(correct(id, { kind: 'amend', transaction_id: 'u1', properties: { gb: '1' } }));
  await ok(correct(id, { kind: 'retract', transaction_id: 'u2' }));
  await ok(correct(id, { kind: 'amend', transaction_id: 'u3', timestamp: seconds('2023-01-01T00:00:00Z') }));
  await becomes('open', [['u3', 'before_subscription']]);
  await becomes('healed', [['u1', 'property_not_numeric']]);
  await until(async () => {
    const [row] = await service.sql<{ count: number }[]>`
      select coalesce(sum(total.count), 0)::int8 as count from unmatched_totals total
      where organization_id = ${client.organization.organization_id}`;
    return row!.count === (await openCount()) ? true : undefined;
  });
});

const openCount = async (): Promise<number> =>
  (await ok(client.get('/events/unmatched?statuses[]=open'))).meta.total_count;

test('a range of more than one page is retracted to its end', async () => {
  const id = await subscription();
  for (let batch = 0; batch < 11; batch += 1) {
    const events = Array.from({ length: 100 }, (_, n) =>
      event(id, `page-${batch}-${n}`, 'storage', '2024-03-06T10:00:00Z', { gb: '1' }),
    );
    await ok(client.post('/events/batch', { events }));
  }
  expect(await usage(id)).toMatchObject({ storage: '1100.0' });
  const { correction } = await ok(
    correct(id, {
      kind: 'retract_range',
      timestamp_from: '2024-03-06',
      timestamp_to: '2024-03-07',
      expected_count: 1100,
    }),
  );
  // Retracted meanwhile by somebody else: skipped.
  await correct(id, { kind: 'retract', transaction_id: 'page-10-99' });
  await until(async () => {
    const shown = (await ok(client.get(`/events/corrections/${correction.svc_id}`))).correction;
    return shown.status === 'settled' && shown.progress.percent === 100 ? true : undefined;
  });
  expect(await usage(id)).toMatchObject({ storage: '0.0' });
  const [row] = await service.sql<{ count: number }[]>`select count(*) as count from event_correction_events`;
  expect(row!.count).toBe(0);
});
