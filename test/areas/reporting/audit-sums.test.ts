import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { auditFull } from '../../../src/areas/reporting/audit-books/jobs.ts';
import { rollUpAnalytics } from '../../../src/areas/reporting/roll-up-analytics/roll-up.ts';
import { utcDate } from '../../../src/engine/calendar/instants.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { firstIdAt } from '../../../src/platform/ids.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createProducer, type Producer } from '../../../src/platform/queue/producer.ts';
import { reactions } from '../../../src/reactions.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// What the console sums up is checked against what it was summed from (auditor.md, A39 and A40).
let service: TestService;
let story: Story;
let producer: Producer;
const ENDED = '2024-04-02T00:00:00Z';

beforeAll(async () => {
  service = await startService();
  producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.customer();
  const metric = await story.metric('calls');
  const charge = { billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '1' } };
  await story.plan({ amount_cents: 10000, charges: [charge] });
  await story.subscribe();
  await story.use('calls', {}, { transaction_id: 'first' });
  await story.advanceTo(ENDED);
  await story.invoices(2);
  await rollUpAnalytics({ db: service.sql, organizationId: story.organizationId });
});
afterAll(async () => {
  await producer.close();
  await service.stop();
});
beforeEach(() => service.sql`delete from audit_runs`);

interface Found {
  check: string;
  svc_resource_id: string;
  expected: string;
  actual: string;
}

/** What the nightly audit finds of the two checks. */
async function audited(): Promise<Found[]> {
  const deps = {
    sql: service.sql,
    redis: service.redis,
    producer,
    config: service.config,
    reactions,
    log: createLog({ level: 'silent', process: 'test' }),
  };
  await auditFull.sweep(deps, Temporal.Instant.from(ENDED));
  const { body } = await story.client.get('/audits/findings?per_page=100&checks[]=A39&checks[]=A40');
  return body.audit_findings.map(({ check, svc_resource_id, expected, actual }: Found) => ({
    check,
    svc_resource_id,
    expected,
    actual,
  }));
}

test('events of the last whole day are as many as were counted on it (A39)', async () => {
  const { sql } = service;
  const { organizationId } = story;
  await until(async () => (await sql`select from events where organization_id = ${organizationId}`).length > 0);
  const day = utcDate(realNow()).subtract({ days: 1 });
  const noon = day.toZonedDateTime({ timeZone: 'UTC', plainTime: '12:00' }).toInstant();
  for (const [ago, name] of [
    [0, 'a'],
    [0, 'b'],
    [48, 'c'],
  ] as const)
    await sql`
      insert into events
      select (jsonb_populate_record(one, jsonb_build_object('id',
        ${firstIdAt(noon.subtract({ hours: ago })).slice(0, -1)} || ${name}, 'transaction_id', ${name}::text))).*
      from events one where organization_id = ${organizationId} and transaction_id = 'first'`;
  const count = (hour: Temporal.Instant, stored: number) => sql`
    insert into event_volume_hours (organization_id, hour, code, stored, unmatched, replayed, rejected)
    values (${organizationId}, ${hour}, 'calls', ${stored}, 0, 5, 5)
    on conflict (organization_id, hour, code) do update set stored = excluded.stored`;
  // Counting is known to run since the hour before.
  await count(noon.subtract({ hours: 1 }), 0);
  await count(noon, 2);
  expect(await audited()).toEqual([]);
  await count(noon, 3);
  expect(await audited()).toEqual([{ check: 'A39', svc_resource_id: String(day), expected: '2', actual: '3' }]);
  // Counting that began at noon may have missed a part of that hour.
  await sql`delete from event_volume_hours where organization_id = ${organizationId} and hour < ${noon}`;
  expect(await audited()).toEqual([]);
  await count(noon, 2);
});

test('sums of the whole organization are those of its subscriptions (A40)', async () => {
  const { sql } = service;
  const { organizationId } = story;
  const raise = (by: number) => sql`
    update analytics_totals set amount = amount + ${by}
    where organization_id = ${organizationId} and report = 'revenue_streams' and key = 'subscription_fee'
      and customer_id = '00000000-0000-0000-0000-000000000000' and day >= '2024-04-01'
    returning amount`;
  expect(await audited()).toEqual([]);
  expect(await raise(1)).toHaveLength(1);
  expect(await audited()).toEqual([
    {
      check: 'A40',
      svc_resource_id: 'revenue_streams 2024-04-01 USD subscription_fee',
      expected: expect.stringMatching(/^10000(\.0+)?$/),
      actual: expect.stringMatching(/^10001(\.0+)?$/),
    },
  ]);
  await raise(-1);
  expect(await audited()).toEqual([]);
});

test('collected amounts of a month are those of its invoices (A40)', async () => {
  const { sql } = service;
  const { organizationId } = story;
  const raise = (by: number) => sql`
    update analytics_totals set amount = amount + ${by}
    where organization_id = ${organizationId} and report = 'invoice_collection' and day = '2024-04-01'
    returning amount`;
  expect(await raise(7)).toHaveLength(1);
  expect(await audited()).toEqual([
    {
      check: 'A40',
      svc_resource_id: 'invoice_collection 2024-04-01 USD pending',
      expected: '10000',
      actual: expect.stringMatching(/^10007(\.0+)?$/),
    },
  ]);
  await raise(-7);
  expect(await audited()).toEqual([]);
});
