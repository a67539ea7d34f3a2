import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { createProducer } from '../../../src/platform/queue/producer.ts';
import type { Client } from '../../support/client.ts';
import { inLongRun } from '../../support/long-run.ts';
import { EVERY_POOL, startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { minutesAfter } from './scratch.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: EVERY_POOL });
});
afterAll(() => service.stop());

interface InvoiceShown {
  total_amount_cents: number;
  status: string;
  created_at: string;
  issuing_date: string;
  payment_due_date: string;
  payment_overdue: boolean;
}

/** A sandbox whose time stands at `frozenTime`. */
async function sandbox(frozenTime: string) {
  const org = await service.org({ sandbox: true });
  expect((await org.post('/test_clock', { test_clock: { frozen_time: frozenTime } })).status).toBe(200);
  return org;
}

async function advanceTo(org: Client, frozenTime: string): Promise<void> {
  const answer = await org.post('/test_clock/advance', { test_clock: { frozen_time: frozenTime } });
  expect(answer.body).toHaveProperty('test_clock');
  const { status, error } = await until(async () => {
    const { test_clock } = (await org.get('/test_clock')).body;
    return test_clock.status !== 'advancing' && test_clock;
  }, 25_000);
  expect({ status, error }).toEqual({ status: 'ready', error: null });
}

/** The invariants of test-clocks.md#timeline: instants never decrease, and `ready` means that nothing is open. */
async function expectOrder(org: Client & { organization: { organization_id: string } }): Promise<void> {
  const { timeline, meta } = (await org.get('/test_clock/timeline?per_page=1000')).body;
  expect(meta.total_count).toBe(timeline.length);
  for (const [former, line] of timeline.slice(1).map((each: object, index: number) => [timeline[index], each])) {
    expect(line.sequence).toBeGreaterThan(former.sequence);
    expect(line.at >= former.at).toBe(true);
  }
  const open = await service.sql`
    select job from after_steps where organization_id = ${org.organization.organization_id}
      and due_at is null and failed_at is null`;
  expect(open).toEqual([]);
}

async function subscribe(
  org: Client,
  { customer = {}, plan = {}, subscription = {} }: { customer?: object; plan?: object; subscription?: object },
): Promise<void> {
  const answers = [
    await org.post('/customers', { customer: { external_id: 'c1', currency: 'USD', ...customer } }),
    await org.post('/plans', {
      plan: {
        name: 'Monthly',
        code: 'monthly',
        interval: 'monthly',
        amount_cents: 1000,
        amount_currency: 'USD',
        pay_in_advance: true,
        charges: [],
        ...plan,
      },
    }),
    await org.post('/subscriptions', {
      subscription: { external_customer_id: 'c1', plan_code: 'monthly', external_id: 's1', ...subscription },
    }),
  ];
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
}

const invoices = async (org: Client): Promise<InvoiceShown[]> =>
  (await org.get('/invoices?per_page=100')).body.invoices.reverse();
const billed = async (org: Client) =>
  (await invoices(org)).map((invoice) => `${invoice.created_at} ${invoice.total_amount_cents}`);
const jobsDone = async (org: Client) =>
  (await org.get('/test_clock/timeline?kinds[]=job&per_page=1000')).body.timeline.map(
    (line: { at: string; name: string }) => `${line.at} ${line.name}`,
  );

describe('billing under a test clock', () => {
  test('an advance bills the start at once and each month at its first tick (TC1)', async () => {
    const org = await sandbox('2024-03-05T00:00:00Z');
    await subscribe(org, {});
    await until(async () => (await invoices(org)).length === 1);
    await advanceTo(org, '2024-05-02T00:00:00Z');
    expect(await billed(org)).toEqual([
      '2024-03-05T00:00:00Z 871',
      '2024-04-01T00:10:00Z 1000',
      '2024-05-01T00:10:00Z 1000',
    ]);
  });

  test('an advance in 58 daily steps bills the same as one jump (TC2)', async () => {
    const org = await sandbox('2024-03-05T00:00:00Z');
    await subscribe(org, {});
    for (let day = 1; day <= 58; day += 1) await advanceTo(org, minutesAfter('2024-03-05T00:00:00Z', day * 1440));
    expect(await billed(org)).toEqual([
      '2024-03-05T00:00:00Z 871',
      '2024-04-01T00:10:00Z 1000',
      '2024-05-01T00:10:00Z 1000',
    ]);
  });

  test('an advance drafts, finalizes and flags invoices in the order of time (TC3)', async () => {
    const org = await sandbox('2024-02-01T00:00:00Z');
    await subscribe(org, {
      customer: { billing_configuration: { invoice_grace_period: 3 }, net_payment_term: 30 },
      plan: { pay_in_advance: false },
    });
    await advanceTo(org, '2024-04-05T00:00:00Z');
    expect((await invoices(org))[0]).toMatchObject({ issuing_date: '2024-03-04', payment_due_date: '2024-04-03' });
    expect(await jobsDone(org)).toEqual([
      '2024-03-01T00:10:00Z bill',
      '2024-03-04T00:20:00Z finalize',
      '2024-04-01T00:10:00Z bill',
      '2024-04-04T00:20:00Z finalize',
      '2024-04-04T00:25:00Z overdue',
    ]);
  });

  test('an advance bills a customer in Paris in the first tick after its midnight (TC4)', async () => {
    const org = await sandbox('2024-03-05T00:00:00Z');
    await subscribe(org, { customer: { timezone: 'Europe/Paris' }, plan: { pay_in_advance: false } });
    await advanceTo(org, '2024-03-31T22:09:59Z');
    expect(await invoices(org)).toEqual([]);
    await advanceTo(org, '2024-03-31T22:10:00Z');
    expect((await billed(org)).map((line) => line.slice(0, 20))).toEqual(['2024-03-31T22:10:00Z']);
  });

  test('one jump bills what many small steps bill, whatever the plans', async () => {
    const story = fc.record({
      interval: fc.constantFrom('weekly', 'monthly', 'quarterly'),
      pay_in_advance: fc.boolean(),
      trial_period: fc.constantFrom(0, 10),
      grace: fc.constantFrom(0, 2),
      billing_time: fc.constantFrom('calendar', 'anniversary'),
      timezone: fc.constantFrom('UTC', 'Europe/Paris', 'America/Los_Angeles'),
      endsAfterDays: fc.constantFrom(null, 25),
    });
    await fc.assert(
      fc.asyncProperty(
        story,
        fc.uniqueArray(fc.integer({ min: 1, max: 95 * 1440 }), { maxLength: 6 }),
        async ({ interval, pay_in_advance, trial_period, grace, billing_time, timezone, endsAfterDays }, stops) => {
          const start = '2024-01-20T09:30:00Z';
          const play = async (instants: number[]) => {
            const org = await sandbox(start);
            await subscribe(org, {
              customer: { timezone, billing_configuration: { invoice_grace_period: grace }, net_payment_term: 5 },
              plan: { interval, pay_in_advance, trial_period },
              subscription: {
                billing_time,
                ...(endsAfterDays ? { ending_at: minutesAfter(start, endsAfterDays * 1440) } : {}),
              },
            });
            for (const minutes of [...instants, 95 * 1440 + 1]) await advanceTo(org, minutesAfter(start, minutes));
            await expectOrder(org);
            const { subscriptions } = (await org.get('/subscriptions?status[]=active&status[]=terminated')).body;
            return {
              billed: (await invoices(org)).map((invoice) => [
                invoice.created_at,
                invoice.status,
                invoice.issuing_date,
                invoice.payment_due_date,
                invoice.total_amount_cents,
                invoice.payment_overdue,
              ]),
              ended: subscriptions.map((each: { terminated_at: string | null }) => each.terminated_at),
              jobs: await jobsDone(org),
            };
          };
          const [jump, steps] = await Promise.all([play([]), play(stops.sort((a, b) => a - b))]);
          expect(steps).toEqual(jump);
          expect(jump.billed.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: inLongRun(5, 3) },
    );
  });

  test('an advance over a year bills ten subscriptions month by month', async () => {
    const org = await sandbox('2024-01-31T00:00:00Z');
    await subscribe(org, {});
    for (let each = 2; each <= 10; each += 1) {
      const { status } = await org.post('/subscriptions', {
        subscription: { external_customer_id: 'c1', plan_code: 'monthly', external_id: `s${each}` },
      });
      expect(status).toBe(200);
    }
    await advanceTo(org, '2025-01-31T00:00:00Z');
    const lines = await service.sql`
      select 1 from invoice_subscriptions where organization_id = ${org.organization.organization_id}`;
    // The starts, and twelve months each.
    expect(lines).toHaveLength(130);
  });

  test('an advance over five years of a yearly plan makes five invoices (TC8)', async () => {
    const org = await sandbox('2024-03-05T00:00:00Z');
    await subscribe(org, { plan: { interval: 'yearly', pay_in_advance: false } });
    await advanceTo(org, '2029-03-05T00:00:00Z');
    expect(await invoices(org)).toHaveLength(5);
    expect((await org.get('/test_clock')).body.test_clock.steps_done).toBeLessThanOrEqual(30);
  });
});

test('an organization in real time is billed by the tick, one with a test clock is not', async () => {
  const [real, frozen] = [await service.org(), await service.org({ sandbox: true })];
  await frozen.post('/test_clock', { test_clock: { frozen_time: '2026-01-31T00:00:00Z' } });
  for (const org of [real, frozen]) await subscribe(org, { plan: { pay_in_advance: false } });
  await service.sql`
    update subscriptions set started_at = '2026-01-31T00:00:00Z', subscription_at = '2026-01-31T00:00:00Z',
      created_at = '2026-01-31T00:00:00Z', next_billing_at = '2026-02-01T00:00:00Z' where status = 'active'
      and organization_id = any (${[real, frozen].map((org) => org.organization.organization_id)}::uuid[])`;
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  // A tick of its own: the scheduler has finished the latest one.
  const at = realNow().toString();
  // Twice, as after a lost answer: billed once.
  for (const id of ['one', 'two']) await producer.add('periodic.tick', { job: 'bill', at }, { id });
  await until(async () => (await invoices(real)).length > 0);
  await until(async () => (await producer.queue('billing').getJobCountByTypes('active', 'waiting', 'delayed')) === 0);
  const days = await service.sql<{ day: string }[]>`
    select billed_on::text as day from invoice_subscriptions
    where organization_id = ${real.organization.organization_id} order by 1`;
  expect(days.slice(0, 2).map((row) => row.day)).toEqual(['2026-02-01', '2026-03-01']);
  expect(new Set(days.map((row) => row.day)).size).toBe(days.length);
  expect(await invoices(frozen)).toEqual([]);
  await producer.close();
});
