import { afterAll, beforeAll, expect, test } from 'vitest';
import { listPricedCharges } from '../../../src/areas/usage/usage/priced-charges.ts';
import { connectDatabase } from '../../../src/platform/db/connect.ts';
import type { PlanId } from '../../../src/platform/ids.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory } from '../../support/story.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

// Postgres plans the first five calls of a prepared statement each for its own values, before it may keep one plan.
const CALLS_BEFORE_A_PLAN_IS_KEPT = 5;
const CALLS = 12;

test('the charges of plans are read by a plan that Postgres makes once for all calls', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const metric = { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' };
  const { body } = await story.client.post('/billable_metrics', { billable_metric: metric });
  const charge = { billable_metric_id: body.billable_metric.svc_id, charge_model: 'standard' };
  await story.plan({ amount_cents: 1000, charges: [{ ...charge, properties: { amount: '1' } }] });
  const plans = await service.sql<{ id: PlanId }[]>`
    select id from plans where organization_id = ${story.organizationId}`;

  const db = connectDatabase(service.config.DATABASE_URL, { connections: 1 });
  for (let n = 0; n < CALLS; n += 1) {
    const scope = { db, organizationId: story.organizationId };
    const charges = await listPricedCharges(
      scope,
      plans.map(({ id }) => id),
    );
    expect(charges).toHaveLength(1);
  }
  const prepared = await db<{ custom_plans: number }[]>`
    select custom_plans from pg_prepared_statements where statement ~ '^\\s*select charge.id'`;
  await db.end();
  expect([...prepared]).toEqual([{ custom_plans: CALLS_BEFORE_A_PLAN_IS_KEPT }]);
});
