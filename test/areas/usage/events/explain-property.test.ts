import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { explainBatch } from '../../../../src/areas/usage/events/explain/explain-batch.ts';
import type { Explanation } from '../../../../src/areas/usage/events/explain/verdict.ts';
import type { Verdict } from '../../../../src/areas/usage/events/incoming-event.ts';
import { toCount } from '../../../../src/areas/usage/usage/price-usage.ts';
import { listPricedCharges, type PricedCharge } from '../../../../src/areas/usage/usage/priced-charges.ts';
import { countUsage } from '../../../../src/areas/usage/usage-counts/count-usage.ts';
import { json } from '../../../../src/platform/db/values.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { incoming, makeMetric, storage } from '../ingest-events/build.ts';

let database: TestDatabase;
let organizationId: string;
let customerId: string;
let planId: string;
const statements: string[] = [];

const day = (date: number) => Temporal.Instant.from('2024-03-01T00:00:00Z').add({ hours: 24 * date });
const CREATED = day(0);
const [START, CHANGE] = [day(10), day(20)];

const METRICS = [
  { code: 'calls', aggregation_type: 'count_agg' },
  { code: 'spend', aggregation_type: 'sum_agg', field_name: 'n' },
  { code: 'top', aggregation_type: 'max_agg', field_name: 'n' },
  { code: 'seats', aggregation_type: 'unique_count_agg', field_name: 'n', recurring: true },
  { code: 'stock', aggregation_type: 'sum_agg', field_name: 'n', recurring: true },
];

beforeAll(async () => {
  database = await createTestDatabase({ onStatement: (text) => statements.push(text) });
  const { sql } = database;
  organizationId = (await createOrganization(sql, { name: 'Acme', sandbox: false })).organization_id;
  [customerId, planId] = [newId(), newId()];
  const [entity] = await sql<
    { id: string }[]
  >`select id from billing_entities where organization_id = ${organizationId}`;
  await sql`
    insert into customers (id, organization_id, billing_entity_id, external_id, sequential_id, slug, created_at,
      updated_at)
    values (${customerId}, ${organizationId}, ${entity!.id}, 'c', 1, 'c', ${CREATED}, ${CREATED})`;
  await sql`
    insert into plans (id, organization_id, code, name, interval, pay_in_advance, amount_cents, amount_currency,
      created_at, updated_at)
    values (${planId}, ${organizationId}, 'p', 'p', 'monthly', false, 0, 'USD', ${CREATED}, ${CREATED})`;
  for (const metric of METRICS) await charge((await makeMetric(sql, organizationId, metric)).id, metric.code);
  await makeMetric(sql, organizationId, { code: 'free' });
});
afterAll(() => database.drop());

/** A charge with a wide and a narrow filter; the default bucket and the wide one are grouped by team. */
async function charge(metricId: string, code: string) {
  const { sql } = database;
  const [id, properties] = [newId(), { amount: '1', pricing_group_keys: ['team'] }];
  await sql`
    insert into billable_metric_filters (id, organization_id, billable_metric_id, key, "values", created_at, updated_at)
    values (${newId()}, ${organizationId}, ${metricId}, 'region', ${['eu', 'us']}, ${CREATED}, ${CREATED})`;
  await sql`
    insert into charges (id, organization_id, plan_id, billable_metric_id, code, charge_model, properties, created_at,
      updated_at)
    values (${id}, ${organizationId}, ${planId}, ${metricId}, ${code}, 'standard', ${json(properties)}, ${CREATED},
      ${CREATED})`;
  for (const [position, values] of [{ region: ['eu'] }, { region: ['eu', 'us'], cloud: ['aws'] }].entries())
    await sql`
      insert into charge_filters (id, organization_id, charge_id, code, "values", properties, position, created_at,
        updated_at)
      values (${newId()}, ${organizationId}, ${id}, ${`f${position}`}, ${json(values)},
        ${json(position === 0 ? properties : { amount: '2' })}, ${position}, ${CREATED}, ${CREATED})`;
}

/** One record that ended and the one that replaced it at the same instant, before or after the events are stored. */
async function subscribe(externalId: string) {
  const [old, next] = [newId(), newId()];
  await database.sql`
    insert into subscriptions (id, organization_id, customer_id, plan_id, external_id, status, previous_subscription_id,
      switch_kind,
      subscription_at, started_at, terminated_at, created_at, updated_at)
    values (${old}, ${organizationId}, ${customerId}, ${planId}, ${externalId}, 'terminated', null, null, ${START},
      ${START}, ${CHANGE}, ${CREATED}, ${CREATED}),
      (${next}, ${organizationId}, ${customerId}, ${planId}, ${externalId}, 'active', ${old}, 'upgrade', ${START},
      ${CHANGE}, null, ${CREATED}, ${CREATED})`;
  return [
    { id: old, window: { from: START, to: CHANGE.add({ microseconds: 1 }) }, ends: { replacedBy: next } },
    { id: next, window: { from: CHANGE, to: day(1000) }, ends: { startedAs: next } },
  ];
}

const around = (instant: Temporal.Instant) =>
  fc.constantFrom(-1_000_001, -1000, -1, 0, 1, 999, 1000).map((micros) => instant.add({ microseconds: micros }));
const event = fc.record({
  code: fc.constantFrom(...METRICS.map(({ code }) => code), 'free', 'unknown'),
  at: fc.oneof(around(START), around(CHANGE), fc.integer({ min: 0, max: 40 }).map(day)),
  n: fc.constantFrom<unknown>(1, '2.5', -3, '1e3', 'x', '', true, null, undefined, { a: 1 }),
  region: fc.constantFrom<unknown>('eu', 'us', 'mars', 1, undefined),
  cloud: fc.constantFrom('aws', 'gcp', undefined),
  team: fc.constantFrom<unknown>('a', '', 7, null, undefined),
});

const tally = (shares: Map<string, number>, key: unknown[], count: number) => {
  const name = JSON.stringify(key);
  // Of a value that is there already, unique counts take the event but do not count it again.
  const isUnique = key[1] === 'seats';
  if (count > 0) shares.set(name, isUnique ? 1 : (shares.get(name) ?? 0) + count);
};
const sorted = (shares: Map<string, number>) => [...shares].sort(([a], [b]) => (a < b ? -1 : 1));

test('the verdict of any event agrees with what billing counts', { timeout: 120_000 }, async () => {
  const charges = await listPricedCharges({ db: database.sql, organizationId }, [planId]);
  const { store } = storage(database.sql);
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 40 }), fc.boolean(), async (events, isLate) => {
      const externalId = newId();
      const before = isLate ? await subscribe(externalId) : undefined;
      const batch = incoming(
        organizationId,
        events.map(({ code, at, ...properties }) => ({
          code,
          external_subscription_id: externalId,
          timestamp: secondsOf(at),
          properties,
        })),
        { atomic: false, explain: 'full' },
      );
      const [verdicts] = await store(batch);
      const records = before ?? (await subscribe(externalId));
      const explained = await explainBatch(database.sql, batch, {
        verdicts: verdicts!,
        now: '2024-05-01T00:00:00.000000Z',
      });
      expect(sorted(told(explained))).toEqual(sorted(await counted(charges, externalId, records)));
    }),
    { numRuns: 40 },
  );
});

const secondsOf = (instant: Temporal.Instant): string => {
  const micros = instant.epochNanoseconds / 1000n;
  return `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`;
};

/**
 * Number of events by record, charge, filter and group, as the verdicts tell; recurring metrics belong to the lineage.
 */
function told(verdicts: readonly Verdict[]): Map<string, number> {
  const shares = new Map<string, number>();
  for (const verdict of verdicts) {
    const { outcome, svc_subscription_id, billable_metric_code, charges, reasons } = (verdict as { x: Explanation }).x;
    expect(outcome === 'counted').toBe(charges.length > 0);
    expect(outcome === 'counted').toBe(reasons.length === 0);
    const isRecurring = METRICS.some(({ code, recurring }) => code === billable_metric_code && recurring);
    for (const each of charges)
      tally(
        shares,
        [isRecurring ? null : svc_subscription_id, each.charge_code, each.svc_charge_filter_id, each.grouped_by],
        1,
      );
  }
  return shares;
}

/** The same as billing counts it from the raw events. */
async function counted(
  charges: readonly PricedCharge[],
  externalId: string,
  records: Awaited<ReturnType<typeof subscribe>>,
): Promise<Map<string, number>> {
  const shares = new Map<string, number>();
  for (const record of records) {
    const proration = { period: record.window, periodDays: 31, zone: 'UTC', isUpgraded: false };
    const subscription = { id: record.id, external_id: externalId, previous_subscription_id: null };
    // The latest record of a lineage counts the recurring metrics of all of it.
    const own = charges.filter(({ metric }) => !metric.recurring || record === records.at(-1));
    const usage = await countUsage(database.sql, {
      organizationId,
      charges: own.map((each) => toCount(each, { subscription, proration, ...record.ends })),
      mode: 'scan',
    });
    for (const [index, { shares: of }] of usage.entries()) {
      const { code, metric } = own[index]!;
      for (const share of of)
        tally(shares, [metric.recurring ? null : record.id, code, share.filterId, share.groupedBy], share.eventsCount);
    }
  }
  return shares;
}

test('explaining events takes two statements, whatever the size of the batch', async () => {
  const externalId = newId();
  await subscribe(externalId);
  const events = METRICS.map(({ code }) => ({
    code,
    external_subscription_id: externalId,
    timestamp: secondsOf(day(25)),
  }));
  const batch = incoming(organizationId, [...events, ...events], { explain: 'full' });
  const [verdicts] = await storage(database.sql).store(batch);
  statements.length = 0;
  await explainBatch(database.sql, batch, { verdicts: verdicts!, now: '2024-05-01T00:00:00.000000Z' });
  expect(statements).toHaveLength(2);
});
