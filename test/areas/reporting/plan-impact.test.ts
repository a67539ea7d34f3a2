import { afterAll, beforeAll, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { ok } from '../../support/words.ts';

// console-reads.md#plan-impact.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2026-09-01T00:00:00Z');
  const metric = await story.metric('calls');
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '2' } }],
  });
  for (const external_id of ['ada', 'zed']) await story.customer({ external_id });
  await ok(story.subscribe({ external_customer_id: 'ada', external_id: 'a1' }));
  await ok(story.subscribe({ external_customer_id: 'ada', external_id: 'a2', plan_overrides: { amount_cents: 100 } }));
  await ok(
    story.subscribe({ external_customer_id: 'zed', external_id: 'z1', subscription_at: '2026-10-01T00:00:00Z' }),
  );
  await story.use('calls', {}, { by: 'a1', at: '2026-09-01T10:00:00Z' });
  await story.advanceTo('2026-09-02T08:00:00Z');
});
afterAll(() => service.stop());

const exactly = (count: number) => ({ count, more: false });

test('a plan says whom its change concerns, with its overrides and the usage of yesterday', async () => {
  expect((await ok(story.client.get('/plans/plan/impact'))).impact).toEqual({
    active: exactly(2),
    pending: exactly(1),
    incomplete: exactly(0),
    overridden: exactly(1),
    customers: exactly(2),
    drafts: exactly(0),
    current_usage_cents_by_currency: { USD: 200 },
    as_of: '2026-09-01',
  });
  expect((await story.client.get('/plans/none/impact')).body.code).toBe('object_not_found');
});

test('four statements, with ten subscriptions and a thousand', async () => {
  const asked = () =>
    countStatements(service, story.organizationId, 'findPlanImpact', { now: '2026-09-02T08:00:00Z', code: 'plan' });
  expect((await asked()).statements).toHaveLength(4);
  await service.sql`
    insert into subscriptions select (jsonb_populate_record(s, jsonb_build_object(
      'id', gen_random_uuid(), 'external_id', 'copy' || n))).*
    from subscriptions s, generate_series(1, 1000) n
    where s.organization_id = ${story.organizationId} and s.external_id = 'a1'`;
  const many = await asked();
  expect(many.statements).toHaveLength(4);
  expect(many.body.impact.active).toEqual(exactly(1002));
});
