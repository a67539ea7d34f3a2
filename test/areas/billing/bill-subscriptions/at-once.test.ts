import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Fifty requests at one record leave one effect (invoices.md#guarantees-of-the-storage).
const AT_ONCE = 50;

let service: TestService;
beforeAll(async () => {
  // Fifty writes on one record wait for each other: a busy machine takes its time.
  service = await startService();
});
afterAll(() => service.stop());

const all = <Answer>(make: () => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, make));

const rows = (story: Story) => service.sql<{ plan: string; status: string }[]>`
  select plan.code as plan, s.status from subscriptions s join plans plan on plan.id = s.plan_id
  where s.organization_id = ${story.organizationId} order by s.id`;

const settled = (story: Story) =>
  until(async () => {
    const [owed] = await service.sql<{ count: number }[]>`
      select count(*) as count from after_steps where organization_id = ${story.organizationId}`;
    return owed!.count === 0;
  });

test('fifty terminations at the same time end a subscription once, with one invoice', { timeout: 60_000 }, async () => {
  const story = await openStory(service, '2026-03-10T08:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 3100 });
  await story.subscribe();
  await story.advanceTo('2026-03-20T08:00:00Z');
  const answers = await all(() => story.client.delete('/subscriptions/sub'));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 404)).toHaveLength(AT_ONCE - 1);
  await settled(story);
  const invoices = await story.invoices(1);
  expect(invoices).toHaveLength(1);
  // 10 to 20 March are 11 of 31 days of 31.00.
  expect(invoices[0].fees_amount_cents).toBe(1100);
  expect(await rows(story)).toEqual([{ plan: 'plan', status: 'terminated' }]);
});

test('fifty upgrades at the same time make one new record and one invoice', { timeout: 60_000 }, async () => {
  const story = await openStory(service, '2026-03-10T08:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 3100 });
  await story.plan({ code: 'bigger', amount_cents: 6200 });
  await story.subscribe();
  await story.advanceTo('2026-03-20T08:00:00Z');
  const answers = await all(() => story.subscribe({ plan_code: 'bigger' }));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(new Set(answers.map(({ body }) => body.subscription.svc_id)).size).toBe(1);
  await settled(story);
  // 10 to 19 March are 10 of 31 days; the day of the upgrade is the new plan's.
  const invoices = await story.invoices(1);
  expect(invoices.map((invoice) => invoice.fees_amount_cents)).toEqual([1000]);
  expect(await rows(story)).toEqual([
    { plan: 'plan', status: 'terminated' },
    { plan: 'bigger', status: 'active' },
  ]);
});

test('fifty downgrades at the same time leave one pending record', { timeout: 60_000 }, async () => {
  const story = await openStory(service, '2026-03-10T08:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 3100 });
  await story.plan({ code: 'smaller', amount_cents: 1000 });
  await story.subscribe();
  const answers = await all(() => story.subscribe({ plan_code: 'smaller' }));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const left = (await rows(story)).filter(({ status }) => status !== 'canceled');
  expect(left).toEqual([
    { plan: 'plan', status: 'active' },
    { plan: 'smaller', status: 'pending' },
  ]);
});

test('terminations and upgrades at the same time leave at most one record alive, and no invoice twice', {
  timeout: 60_000,
}, async () => {
  const story = await openStory(service, '2026-03-10T08:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 3100 });
  await story.plan({ code: 'bigger', amount_cents: 6200 });
  await story.subscribe();
  await story.advanceTo('2026-03-20T08:00:00Z');
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) =>
      index % 2 === 0 ? story.client.delete('/subscriptions/sub') : story.subscribe({ plan_code: 'bigger' }),
    ),
  );
  expect(answers.every(({ status }) => status === 200 || status === 404)).toBe(true);
  await settled(story);
  const records = await rows(story);
  expect(records.filter(({ status }) => status === 'active').length).toBeLessThanOrEqual(1);
  const twice = await service.sql`
    select subscription_id from invoice_subscriptions
    where organization_id = ${story.organizationId} and invoicing_reason = 'subscription_terminating'
    group by 1 having count(*) > 1`;
  expect(twice).toEqual([]);
});
