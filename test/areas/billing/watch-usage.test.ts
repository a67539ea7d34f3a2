import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { watchUsage } from '../../../src/areas/billing/watch-usage/watch-usage.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { systemTransaction } from '../../../src/platform/records/system-transaction.ts';
import { reactions } from '../../../src/reactions.ts';
import type { Client } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { wordsOf } from '../../support/words.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

let transactions = 0;
const send = (client: Client, code: string, n: number, timestamp?: number) =>
  client.post('/events', {
    event: {
      transaction_id: `w${++transactions}`,
      external_subscription_id: 'sub',
      code,
      properties: { n },
      ...(timestamp === undefined ? {} : { timestamp }),
    },
  });

/** Two metrics of 5.00 and 100.00 a unit. */
async function catalog(client: Client): Promise<object> {
  const charges = [];
  for (const [code, amount] of [
    ['ops', '5'],
    ['api', '100'],
  ]) {
    const metric = await wordsOf(client).metric(code!, { aggregation_type: 'sum_agg', field_name: 'n' });
    charges.push({ billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount } });
  }
  return { amount_cents: 4900, charges };
}

const addAlert = (client: Client, fields: object) =>
  client.post('/subscriptions/sub/alerts', { alert: { code: 'a', alert_type: 'current_usage_amount', ...fields } });
const previousValue = async (client: Client, code = 'a') =>
  (await client.get(`/subscriptions/sub/alerts/${code}`)).body.alert.previous_value;

interface Triggered {
  alert_code: string;
  current_value: number;
  previous_value: number;
  crossed_thresholds: { code: string | null; value: string; recurring: boolean }[];
}
async function triggered(organizationId: string): Promise<(Triggered & Record<string, unknown>)[]> {
  const rows = await service.sql<{ payload: string }[]>`
    select payload from webhook_events
    where organization_id = ${organizationId} and webhook_type = 'alert.triggered'
    order by id`;
  return rows.map(({ payload }) => JSON.parse(payload).triggered_alert);
}
const valuesCrossed = (all: readonly Triggered[]) =>
  all.map(({ crossed_thresholds }) => crossed_thresholds.map(({ value }) => Number(value)));

describe('watching usage in real time', () => {
  async function live() {
    const client = await service.org();
    const id = client.organization.organization_id;
    const words = wordsOf(client);
    await words.customer();
    await words.plan(await catalog(client));
    await words.subscribe();
    return { client, id };
  }

  test('an accepted event is compared with alerts without waiting for a tick, and crossings are announced', async () => {
    const { client, id } = await live();
    const made = await addAlert(client, {
      name: 'Total',
      thresholds: [{ code: 'warn', value: 1500 }, { value: 3000 }, { value: 1000, recurring: true }],
    });
    const started = performance.now();
    expect((await send(client, 'ops', 9)).status).toBe(200);
    const [first] = await until(async () => {
      const all = await triggered(id);
      return all.length > 0 ? all : undefined;
    });
    // The looks that make up for lost jobs come by the minute.
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(first).toEqual({
      svc_id: expect.any(String),
      svc_organization_id: id,
      svc_alert_id: made.body.alert.svc_id,
      svc_subscription_id: expect.any(String),
      subscription_external_id: 'sub',
      external_subscription_id: 'sub',
      svc_wallet_id: null,
      customer_external_id: 'acme',
      external_customer_id: 'acme',
      billable_metric_code: null,
      alert_name: 'Total',
      alert_code: 'a',
      alert_type: 'current_usage_amount',
      current_value: 4500,
      previous_value: 0,
      crossed_thresholds: [
        { code: 'warn', value: '1500.0', recurring: false },
        { code: null, value: '3000.0', recurring: false },
        { code: null, value: '4000.0', recurring: true },
      ],
      triggered_at: expect.any(String),
    });
    const { body } = await client.get('/subscriptions/sub/alerts/a');
    expect(body.alert).toMatchObject({ previous_value: 4500, last_processed_at: expect.any(String) });
  });

  test('usage that arrives in a burst crosses each alert threshold once', async () => {
    const { client, id } = await live();
    await addAlert(client, { thresholds: [{ value: 1000, recurring: true }] });
    await Promise.all(Array.from({ length: 60 }, () => send(client, 'ops', 1)));
    await until(async () => ((await previousValue(client)) === 30_000 ? true : undefined));
    const crossed = valuesCrossed(await triggered(id)).flat();
    expect(crossed).toEqual(Array.from({ length: 30 }, (_, index) => (index + 1) * 1000));
    await until(async () => {
      const [marks] = await service.sql`select count(*)::int as count from usage_marks where organization_id = ${id}`;
      return marks!.count === 0 ? true : undefined;
    });
  });

  test('a threshold passed by a burst of usage makes one invoice', async () => {
    const { client, id } = await live();
    await client.put('/subscriptions/sub', { subscription: { usage_thresholds: [{ amount_cents: 1000 }] } });
    await Promise.all(Array.from({ length: 30 }, () => send(client, 'ops', 1)));
    await until(async () => {
      const [marks] = await service.sql`
        select (select count(*) from usage_marks where organization_id = ${id})
          + (select count(*) from after_steps where organization_id = ${id})
          + (select count(*) from event_batches where ${id}::uuid = any (organization_ids)) as open`;
      return Number(marks!.open) === 0 ? true : undefined;
    });
    const { body } = await client.get('/invoices');
    expect(body.invoices).toMatchObject([{ invoice_type: 'progressive_billing', status: 'finalized' }]);
  });

  test('an event leaves no mark when its subscription has neither alert nor threshold', async () => {
    const { client, id } = await live();
    await send(client, 'ops', 1);
    await until(async () => {
      const [row] = await service.sql`
        select usage_may_have_changed from subscriptions where organization_id = ${id}`;
      return row!.usage_may_have_changed ? true : undefined;
    });
    expect((await service.sql`select 1 from usage_marks where organization_id = ${id}`).count).toBe(0);
  });
});

describe('watching usage under a test clock', () => {
  async function open() {
    const story = await openStory(service, '2024-05-01T10:00:00Z');
    await story.customer();
    await story.plan(await catalog(story.client));
    await story.subscribe();
    return story;
  }

  test('each type of alert compares its own figure, and a plan change keeps the alerts', async () => {
    const story = await open();
    const types = {
      total: { alert_type: 'current_usage_amount' },
      amount: { alert_type: 'billable_metric_current_usage_amount', billable_metric_code: 'api' },
      units: { alert_type: 'billable_metric_current_usage_units', billable_metric_code: 'ops' },
      life: { alert_type: 'lifetime_usage_amount' },
      lifeUnits: { alert_type: 'billable_metric_lifetime_usage_units', billable_metric_code: 'ops' },
    };
    for (const [code, fields] of Object.entries(types)) {
      const { status } = await addAlert(story.client, { code, ...fields, thresholds: [{ value: 10_000_000 }] });
      expect(status).toBe(200);
    }
    const figures = async () => {
      const values: Record<string, number> = {};
      for (const code of Object.keys(types)) values[code] = await previousValue(story.client, code);
      return values;
    };
    await send(story.client, 'ops', 3);
    await send(story.client, 'api', 2);
    expect(await figures()).toEqual({ total: 0, amount: 0, units: 0, life: 0, lifeUnits: 0 });
    await story.advanceTo('2024-05-01T10:02:00Z');
    expect(await figures()).toEqual({ total: 21_500, amount: 20_000, units: 3, life: 21_500, lifeUnits: 3 });

    await story.advanceTo('2024-06-02T00:00:00Z');
    await send(story.client, 'ops', 1);
    await story.advanceTo('2024-06-02T00:02:00Z');
    expect(await figures()).toEqual({ total: 500, amount: 0, units: 1, life: 22_000, lifeUnits: 4 });

    await story.plan({ code: 'bigger', amount_cents: 9900 });
    await story.subscribe({ plan_code: 'bigger' });
    const { body } = await story.client.get('/subscriptions/sub/alerts');
    expect(body.meta.total_count).toBe(5);
  });

  test('ten concurrent evaluations report each crossing once', async () => {
    const story = await open();
    await addAlert(story.client, { thresholds: [{ value: 500 }, { value: 1000 }, { value: 700, recurring: true }] });
    await story.advanceTo('2024-05-01T10:02:00Z');
    await send(story.client, 'ops', 5);
    const id = story.organizationId;
    const [subscription] = await service.sql<{ id: string }[]>`
      select id from subscriptions where organization_id = ${id}`;
    const look = () =>
      systemTransaction(
        {
          sql: service.sql,
          config: service.config,
          reactions,
          log: createLog({ level: 'silent', process: 'test' }),
          producer: null as never,
        },
        { id, sandbox: true },
        async () => Temporal.Instant.from('2024-05-01T10:03:00Z'),
        async (ctx) => {
          await ctx.db`
            insert into usage_marks (id, organization_id, subscription_id, marked_at)
            values (gen_random_uuid(), ${id}, ${subscription!.id}, ${ctx.now()})`;
          await watchUsage(ctx, subscription!.id);
        },
      );
    await Promise.all(Array.from({ length: 10 }, look));
    expect(valuesCrossed(await triggered(id))).toEqual([[500, 1000, 1700, 2400]]);
    expect(await previousValue(story.client)).toBe(2500);
  });

  test('a new period resets usage, and the threshold fires again', async () => {
    const story = await open();
    await addAlert(story.client, { thresholds: [{ code: 'warn', value: '999.5' }] });
    for (const day of ['2024-05-02', '2024-06-02']) {
      await story.advanceTo(`${day}T00:00:00Z`);
      await send(story.client, 'ops', 1);
      await story.advanceTo(`${day}T00:02:00Z`);
      await send(story.client, 'ops', 1);
      await story.advanceTo(`${day}T00:04:00Z`);
    }
    const all = await triggered(story.organizationId);
    expect(all.map(({ previous_value, current_value }) => [previous_value, current_value])).toEqual([
      [500, 1000],
      [500, 1000],
    ]);
    expect(all[0]!.crossed_thresholds).toEqual([{ code: 'warn', value: '999.5', recurring: false }]);
  });

  test('an alert created after the usage is evaluated at once', async () => {
    const story = await open();
    await send(story.client, 'api', 1);
    await addAlert(story.client, { thresholds: [{ value: 5000 }] });
    await story.advanceTo('2024-05-01T10:02:00Z');
    expect(valuesCrossed(await triggered(story.organizationId))).toEqual([[5000]]);
  });

  test('a deleted alert no longer fires', async () => {
    const story = await open();
    await addAlert(story.client, { thresholds: [{ value: 5000 }] });
    await story.client.delete('/subscriptions/sub/alerts/a');
    await send(story.client, 'api', 1);
    await story.advanceTo('2024-05-01T10:02:00Z');
    expect(await triggered(story.organizationId)).toEqual([]);
  });
});
