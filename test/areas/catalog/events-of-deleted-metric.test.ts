import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MarkedUpTo, markEventsOfMetricDeleted } from '../../../src/areas/catalog/billable-metrics/writes.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { connectDatabase } from '../../../src/platform/db/connect.ts';
import type { MetricId, OrganizationId } from '../../../src/platform/ids.ts';
import { explainStatement, PLAN_MODES, type Sent } from '../../support/explain-statements.ts';
import { until } from '../../support/until.ts';
import { type Catalog, openCatalog } from '../support/catalog.ts';

// Events of a deleted metric are marked in pages (billable-metrics.md#update-and-delete).
const MANY = 6_000;
const FEW = 30;
const PAGE = 1000;

let catalog: Catalog;
beforeAll(async () => {
  catalog = await openCatalog();
});
afterAll(() => catalog.stop());

/** Events of a code on a subscription, three at each instant; their ids are of a time gone by. */
const storeEvents = (externalId: string, code: string, count: number) => catalog.service.sql`
  insert into events (
    id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties, digest,
    created_at)
  select ('01900000' || substr(md5(random()::text), 9))::uuid, ${catalog.organizationId}, ${externalId}, ${externalId} || '-' || ${code}::text || n,
    ${code}, timestamptz '2026-01-02' + n / 3 * interval '1 second', '{}', '\\x00', '2026-01-02'
  from generate_series(1, ${count}::int) n`;

async function countMarked(): Promise<Record<string, number>> {
  const rows = await catalog.service.sql<{ name: string; count: number }[]>`
    select external_subscription_id || ' ' || code as name, count(*) filter (where deleted_at is not null) as count
    from events where organization_id = ${catalog.organizationId} group by name`;
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

async function bringBack(): Promise<void> {
  const { sql } = catalog.service;
  await sql`update events set deleted_at = null where organization_id = ${catalog.organizationId}`;
  await sql`vacuum events`;
}

test('all events of a deleted metric are marked, page by page, and each page reads its own alone', async () => {
  const { sql, config } = catalog.service;
  const metric = await catalog.metric();
  const charge = { charge_model: 'standard', properties: { amount: '1' }, billable_metric_id: metric.svc_id };
  const plan = await catalog.plan({ charges: [charge] });
  const plain = await catalog.plan({ charges: [] });
  const [many, few, none] = [
    await catalog.subscribe(plan.svc_id),
    await catalog.subscribe(plan.svc_id),
    await catalog.subscribe(plan.svc_id),
  ].map(({ externalId }) => externalId) as [string, string, string];
  const { externalId: foreign } = await catalog.subscribe(plain.svc_id);
  await storeEvents(many, metric.code, MANY);
  await storeEvents(few, metric.code, FEW);
  await storeEvents(many, 'other', FEW);
  await storeEvents(foreign, metric.code, FEW);
  await sql`analyze events, subscriptions, charges`;
  const expected = { [`${many} other`]: 0, [`${foreign} ${metric.code}`]: 0 };

  expect((await catalog.org.delete(`/billable_metrics/${metric.code}`)).status).toBe(200);
  await until(async () => (await countMarked())[`${many} ${metric.code}`] === MANY, 60_000);
  await until(async () => (await countMarked())[`${few} ${metric.code}`] === FEW);
  expect(await countMarked()).toEqual({
    [`${many} ${metric.code}`]: MANY,
    [`${few} ${metric.code}`]: FEW,
    ...expected,
  });

  // Once more by hand, to see each page.
  await bringBack();
  const sent: Sent[] = [];
  const pool = connectDatabase(config.DATABASE_URL, {
    connections: 1,
    onStatement: (text, parameters) => sent.push({ text, parameters }),
  });
  const pages: number[] = [];
  let after: MarkedUpTo | undefined;
  do {
    const { marked, next } = await markEventsOfMetricDeleted(
      { db: pool, organizationId: catalog.organizationId as OrganizationId },
      { id: metric.svc_id as MetricId, code: metric.code },
      { beforeId: LAST_ID, after, now: realNow(), limit: PAGE },
    );
    pages.push(marked);
    after = next;
  } while (after);
  await pool.end();
  expect(pages.reduce((sum, marked) => sum + marked, 0)).toBe(MANY + FEW);
  expect(pages.slice(0, MANY / PAGE - 1).every((marked) => marked === PAGE)).toBe(true);
  expect(await countMarked()).toEqual({
    [`${many} ${metric.code}`]: MANY,
    [`${few} ${metric.code}`]: FEW,
    [`${none} ${metric.code}`]: undefined,
    ...expected,
  });
  await bringBack();
  await sql`
    insert into charges select (jsonb_populate_record(null::charges, to_jsonb(charge) || jsonb_build_object(
      'id', gen_random_uuid(), 'code', 'c' || n, 'deleted_at', null))).*
    from (select * from charges where organization_id = ${catalog.organizationId} limit 1) charge,
      generate_series(1, 3000) n`;
  await sql`analyze charges`;
  for (const each of sent.filter(({ text }) => text.includes('with recursive plan')))
    for (const mode of PLAN_MODES) {
      const { scans, blocks } = await explainStatement(sql, each, { mode, tables: ['events', 'charges'] });
      expect(
        scans.filter((scan) => !['events_of_subscription', 'events_pkey', 'charges_deleted'].includes(scan)),
      ).toEqual([]);
      // Most of them to keep the five indexes of an event.
      expect(blocks).toBeLessThan(40 * PAGE);
    }
}, 120_000);

/** Above every id of an event. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
