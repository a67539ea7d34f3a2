import { createHash } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  findLiveShape,
  listDifferingHours,
  refillSubscriptions,
} from '../../../../src/areas/usage/build-shapes/rollup-rows.ts';
import { readWatermarks } from '../../../../src/areas/usage/usage-counts/watermarks.ts';
import { json } from '../../../../src/platform/db/values.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// What an invoice counted, proven without reading it again: invoice-verification.md#stored-inputs `events_watermark`,
// invoice-verification.md#route level `events`.
let service: TestService;
let story: Story;
const METRICS = [
  { code: 'calls', aggregation_type: 'sum_agg', field_name: 'value' },
  { code: 'hits', aggregation_type: 'count_agg' },
  { code: 'level', aggregation_type: 'latest_agg', field_name: 'value' },
  { code: 'peak', aggregation_type: 'max_agg', field_name: 'value' },
  { code: 'seats', aggregation_type: 'unique_count_agg', field_name: 'value' },
  {
    code: 'disk',
    aggregation_type: 'weighted_sum_agg',
    field_name: 'value',
    recurring: true,
    weighted_interval: 'seconds',
  },
];

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-02-04T10:30:00Z');
  await story.customer();
  const charges = [];
  for (const metric of METRICS) {
    const { body } = await story.client.post('/billable_metrics', {
      billable_metric: { name: metric.code, ...metric },
    });
    charges.push({
      billable_metric_id: body.billable_metric.svc_id,
      charge_model: 'standard',
      properties: { amount: '1', ...(metric.code === 'calls' ? { pricing_group_keys: ['zone'] } : {}) },
    });
  }
  await story.plan({ amount_cents: 0, charges });
  await story.subscribe();
});
afterAll(() => service.stop());

let sent = 0;
async function send(code: string, at: string, properties: object = {}): Promise<string> {
  sent += 1;
  const transaction_id = `event "${sent}" \\ ${code} é\t😀`;
  const timestamp = epoch(at);
  const answer = await story.client.post('/events', {
    event: { transaction_id, external_subscription_id: 'sub', code, timestamp, properties },
  });
  expect(answer.status, answer.text).toBe(200);
  return transaction_id;
}

const epoch = (at: string): number => Date.parse(at) / 1000;

const correct = async (correction: object) => {
  const answer = await story.client.post('/events/corrections', {
    correction: { reason: 'wrong', policy: 'ignore', external_subscription_id: 'sub', ...correction },
  });
  expect(answer.status, answer.text).toBe(200);
};

/** Once nothing is owed to events any more: the sums of all shapes are built, last values and members are in them. */
const settled = () =>
  until(async () => {
    const owed = await service.sql`
      select from event_batches
      union all select from after_steps where organization_id = ${story.organizationId}
      union all select from usage_shapes where organization_id = ${story.organizationId} and state = 'building'`;
    return owed.length === 0 || undefined;
  });

interface Mark {
  code: string;
  version?: number;
  max_id: string | null;
  count: number | null;
  digest: string | null;
}

const marksOf = (invoice: Invoice) => service.sql<Mark[]>`
  select distinct on (metric.code) metric.code, mark.*
  from fees fee
  join charges charge on charge.id = fee.charge_id
  join billable_metrics metric on metric.id = charge.billable_metric_id
  join fee_inputs input on input.fee_id = fee.id
  cross join jsonb_to_record(input.events_watermark) as mark (version int, max_id text, count bigint, digest text)
  where fee.invoice_id = ${invoice.svc_id} and fee.fee_type = 'charge'
  order by metric.code`;

/**
 * The digest of the events of a code in a window, by the words of event-digest.ts alone; of a recurring metric since
 * ever.
 */
async function digestOf(code: string, from: string, to: string): Promise<{ count: number; digest: string }> {
  const rows = await service.sql<{ transaction_id: string; timestamp: Temporal.Instant; text: string | null }[]>`
    select transaction_id, timestamp, properties ->> 'value' as text from events
    where organization_id = ${story.organizationId} and code = ${code} and deleted_at is null
      and timestamp >= ${code === 'disk' ? '-infinity' : from} and timestamp < ${to}`;
  const sum = rows.reduce((total, { transaction_id, timestamp, text }) => {
    const told = [timestamp.toString({ fractionalSecondDigits: 6 }), transaction_id, code === 'hits' ? null : text];
    const hash = createHash('sha256').update(JSON.stringify(told)).digest('hex');
    return total + BigInt(`0x${hash.slice(0, 60)}`);
  }, 0n);
  return { count: rows.length, digest: (sum % 2n ** 256n).toString(16).padStart(64, '0') };
}

async function verify(invoice: Invoice): Promise<Invoice> {
  const body = { verification: { level: 'events' } };
  const answer = await story.client.post(`/invoices/${invoice.svc_id}/verify`, body);
  expect(answer.status, answer.text).toBe(200);
  const { verification } = answer.body;
  if (verification.status !== 'pending') return verification;
  return until(async () => {
    const read = (await story.client.get(`/verifications/${verification.svc_id}`)).body.verification;
    return read.finished_at === null ? undefined : read;
  });
}

const newest = async (count: number): Promise<Invoice> => (await story.invoices(count)).at(-1);
const unitsOf = (invoice: Invoice) =>
  Object.fromEntries(
    invoice.fees
      .filter(({ item }: Invoice) => item.type === 'charge')
      .map(({ item, units }: Invoice) => [`${item.code}${item.grouped_by?.zone ?? ''}`, units]),
  );

test('an invoice is computed without raw events except those of the first and last hour of its window', async () => {
  for (const { code } of METRICS) {
    await send(code, '2024-02-04T10:45:00.5Z', { value: '1', zone: 'x' }); // within the hour of the start
    await send(code, '2024-02-10T07:59:59Z', { value: 2.5, zone: 'x' });
    await send(code, '2024-02-10T08:00:00Z', { value: '3', zone: 'y' });
    await send(code, '2024-02-29T23:59:59Z', { value: 4, zone: 'y' });
  }
  await settled();
  const expected = await Promise.all(
    METRICS.map(({ code }) => digestOf(code, '2024-02-04T10:30:00Z', '2024-03-01T00:00:00Z')),
  );
  await service.sql`create table kept_events as
    select * from events where organization_id = ${story.organizationId} and timestamp >= '2024-02-04T11:00:00Z'`;
  await service.sql`delete from events where id in (select id from kept_events)`;

  await story.advanceTo('2024-03-01T02:00:00Z');
  const invoice = await newest(1);
  expect(unitsOf(invoice)).toMatchObject({
    callsx: '3.5',
    callsy: '7.0',
    hits: '4.0',
    level: '4.0',
    peak: '4.0',
    seats: '4.0',
  });
  const marks = await marksOf(invoice);
  for (const [n, { code }] of METRICS.entries())
    expect(marks.find((mark) => mark.code === code)).toMatchObject({ version: 2, ...expected[n] });

  await service.sql`insert into events select * from kept_events`;
  await service.sql`drop table kept_events`;
  expect(await verify(invoice)).toMatchObject({ status: 'equal', differences: [], since: { events_added: 0 } });
});

test('the digest holds late, amended, moved and retracted events as they finally are, and the invoice stays provable', async () => {
  const ids = new Map<string, string[]>();
  for (const { code } of METRICS) {
    const of = [];
    for (const at of ['2024-03-02T10:00:00Z', '2024-03-02T10:20:00Z', '2024-03-20T10:20:00Z', '2024-03-21T00:00:00Z'])
      of.push(await send(code, at, { value: 7, zone: 'x' }));
    ids.set(code, of);
  }
  for (const { code } of METRICS) {
    const [amended, moved, retracted] = ids.get(code)!;
    await correct({ kind: 'amend', transaction_id: amended, properties: { value: '8.25', zone: 'y' } });
    await correct({ kind: 'amend', transaction_id: moved, timestamp: epoch('2024-03-05T05:05:05.123Z') });
    await correct({ kind: 'retract', transaction_id: retracted });
  }
  await story.advanceTo('2024-04-01T02:00:00Z');
  const invoice = await newest(2);
  for (const mark of await marksOf(invoice))
    expect(mark).toMatchObject(await digestOf(mark.code, '2024-03-01T00:00:00Z', '2024-04-01T00:00:00Z'));
  expect((await marksOf(invoice)).map(({ count }) => count)).toEqual([3, 4 + 3, 3, 3, 3, 3]);

  // What comes after the invoice is no difference: late, moved out of the window, changed within it, taken away.
  for (const { code } of METRICS) {
    const [amended, moved, , last] = ids.get(code)!;
    await send(code, '2024-03-15T00:00:00Z', { value: 1, zone: 'x' });
    await correct({ kind: 'amend', transaction_id: amended, timestamp: epoch('2024-04-01T01:00:00Z') });
    await correct({ kind: 'amend', transaction_id: moved, properties: { value: 100, zone: 'x' } });
    await correct({ kind: 'retract', transaction_id: last });
  }
  expect(await verify(invoice)).toMatchObject({
    status: 'equal',
    differences: [],
    not_verified: [],
    since: { events_added: 6, corrections: 18 },
  });
});

test('rollups of corrected events have the digests of those events', async () => {
  for (const { id } of await service.sql`
    select id from usage_shapes where organization_id = ${story.organizationId} and state = 'live'`) {
    const shape = (await findLiveShape({ db: service.sql, organizationId: story.organizationId }, id))!;
    const hours = await service.sql<{ external_subscription_id: string; hour: Temporal.Instant }[]>`
      select distinct external_subscription_id, hour from usage_buckets where shape_id = ${id}`;
    expect(hours.length).toBeGreaterThan(4);
    expect(await listDifferingHours(service.sql, shape, hours)).toEqual([]);
    await service.sql`update usage_buckets set digest = digest + 1 where shape_id = ${id}`;
    expect(await listDifferingHours(service.sql, shape, hours)).toHaveLength(hours.length);
    await service.sql`update usage_buckets set digest = digest - 1 where shape_id = ${id}`;
  }
});

test('an invoice with digests of the first version can still be verified by them', async () => {
  const [invoice] = await story.invoices(2);
  const { svc_id } = invoice.fees.find(({ item }: Invoice) => item.code === 'peak');
  const rows = await service.sql<{ transaction_id: string; at: string; text: string }[]>`
    select transaction_id, extract(epoch from timestamp)::text as at, properties ->> 'value' as text from events
    where organization_id = ${story.organizationId} and code = 'peak' and timestamp < '2024-03-01T00:00:00Z'
    order by transaction_id collate "C"`;
  const text = rows.map(({ transaction_id, at, text }) => [transaction_id, at, text].join('\x1f')).join('\x1e');
  const digest = createHash('sha256').update(text).digest('hex');
  await service.sql`
    update fee_inputs set events_watermark = events_watermark - 'version' || ${json({ digest })}::jsonb
    where fee_id = ${svc_id}`;
  expect(await verify(invoice)).toMatchObject({ status: 'equal' });

  const [tampered] = rows;
  await service.sql`update events set transaction_id = 'other' where transaction_id = ${tampered!.transaction_id}`;
  expect(await verify(invoice)).toMatchObject({
    status: 'different',
    differences: [{ path: `fees[${svc_id}].events.digest`, stored: digest, cause: 'events_changed' }],
  });
  await service.sql`update events set transaction_id = ${tampered!.transaction_id} where transaction_id = 'other'`;
});

test('when rollups are older than digests, few events are digested one by one and many get no digest', async () => {
  for (const { code } of METRICS) await send(code, '2024-04-10T12:00:00Z', { value: 5, zone: 'x' });
  await settled();
  await service.sql`update usage_buckets set digest = 0, max_id = null where organization_id = ${story.organizationId}`;
  await story.advanceTo('2024-05-01T02:00:00Z');
  const invoice = await newest(3);
  for (const mark of await marksOf(invoice))
    expect(mark).toMatchObject(await digestOf(mark.code, '2024-04-01T00:00:00Z', '2024-05-01T00:00:00Z'));
  expect(await verify(invoice)).toMatchObject({ status: 'equal' });
});

const MANY = 130_000;

test('a window of many events is proven in parts by a run, even when many events share one instant', async () => {
  await service.sql`
    insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
      digest,
      created_at)
    select ('018f30aa-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ${story.organizationId}, 'sub', 'many-' || n,
      'calls',
      case when n <= 60000 then timestamptz '2024-05-10T10:10:10Z' else timestamptz '2024-05-10T11:00:00Z' + n * interval '10 s' end,
      jsonb_build_object('value', n % 10, 'zone', 'x'), '\\x00', '2024-05-10T10:10:10Z'
    from generate_series(1, ${MANY}::int) as n`;
  const [metric] = await service.sql<{ id: string; shape_id: string }[]>`
    select metric.id, shape.id as shape_id from billable_metrics metric
    join usage_shapes shape on shape.billable_metric_id = metric.id and shape.state = 'live'
    where metric.organization_id = ${story.organizationId} and metric.code = 'calls'`;
  const shape = (await findLiveShape({ db: service.sql, organizationId: story.organizationId }, metric!.shape_id))!;
  await service.sql.begin((tx) => refillSubscriptions(tx, shape, ['sub']));
  await story.advanceTo('2024-06-01T02:00:00Z');
  const invoice = await newest(4);
  const mark = (await marksOf(invoice)).find(({ code }) => code === 'calls')!;
  expect(mark).toMatchObject(await digestOf('calls', '2024-05-01T00:00:00Z', '2024-06-01T00:00:00Z'));
  expect(mark.count).toBe(MANY);
  expect(unitsOf(invoice).callsx).toBe('585000.0');

  expect(await verify(invoice)).toMatchObject({ status: 'equal', differences: [], not_verified: [] });
  await service.sql`update events set properties = '{"value":11,"zone":"x"}' where transaction_id = 'many-59999'`;
  const fee = invoice.fees.find(({ item }: Invoice) => item.code === 'calls');
  const { status, differences } = await verify(invoice);
  expect(status).toBe('different');
  expect(differences).toMatchObject([
    { path: `fees[${fee.svc_id}].events.digest`, stored: mark.digest, cause: 'events_changed' },
    { path: `fees[${fee.svc_id}].usage.aggregated_units`, stored: '585000', computed: '585002' },
  ]);

  // Without a rollup that answers, so many are not read.
  await service.sql`update usage_buckets set digest = 0 where shape_id = ${shape.id}`;
  const [window] = await readWatermarks({ db: service.sql, organizationId: story.organizationId }, [
    {
      externalSubscriptionId: 'sub',
      metric: { id: metric!.id, code: 'calls', aggregation_type: 'sum_agg', field_name: 'value' },
      window: {
        from: Temporal.Instant.from('2024-05-01T00:00:00Z'),
        to: Temporal.Instant.from('2024-06-01T00:00:00Z'),
      },
    },
  ]);
  expect(window).toMatchObject({ version: 2, count: null, digest: null });
  expect(window!.max_id! > mark.max_id!).toBe(true);
});
