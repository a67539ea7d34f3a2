import { afterAll, beforeAll, expect, test } from 'vitest';
import { CatalogCache } from '../../../../src/areas/catalog/usage-shapes/storing-catalog.ts';
import { openCounters } from '../../../../src/areas/usage/access/counters.ts';
import { storeEvents } from '../../../../src/areas/usage/ingest-events/store-events.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { keysOf } from '../../../support/redis-keys.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { incoming } from '../ingest-events/build.ts';

const NOW = '2026-03-09T10:00:00Z';
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const METRICS = [
  { code: 'sums', aggregation_type: 'sum_agg', field_name: 'n' },
  { code: 'kept', aggregation_type: 'sum_agg', field_name: 'n', recurring: true },
  { code: 'counts', aggregation_type: 'count_agg' },
  { code: 'peaks', aggregation_type: 'max_agg', field_name: 'n' },
  { code: 'last', aggregation_type: 'latest_agg', field_name: 'n' },
  { code: 'distinct', aggregation_type: 'unique_count_agg', field_name: 'who' },
  {
    code: 'seats',
    aggregation_type: 'weighted_sum_agg',
    field_name: 'n',
    weighted_interval: 'seconds',
    recurring: true,
  },
];
const PERIODS = ['billing_period', 'day', 'month', 'lifetime'];
const RECURRING_CHARGE = { charge_model: 'standard', properties: { amount: '0.01' } };

/** A customer in Kathmandu, whose days begin at a quarter past, with every metric limited over every period. */
async function limited(subscribedAt = '2026-01-20T08:30:15.123Z'): Promise<Story> {
  const story = await openStory(service, NOW);
  const { client } = story;
  await story.customer({ timezone: 'Asia/Kathmandu' });
  const made = [];
  for (const metric of METRICS)
    made.push(
      (await ok(client.post('/billable_metrics', { billable_metric: { name: metric.code, ...metric } })))
        .billable_metric,
    );
  const privileges = METRICS.flatMap(({ code }) =>
    PERIODS.map((period) => ({ code: `${code}_${period}`, value_type: 'integer' })),
  );
  await ok(client.post('/features', { feature: { code: 'api', privileges } }));
  const usage_limits = METRICS.flatMap(({ code }) =>
    PERIODS.map((period) => ({ privilege_code: `${code}_${period}`, billable_metric_code: code, period })),
  );
  await ok(client.put('/features/api/usage_limits', { usage_limits }));
  // The last metrics have no charge: nothing rolls their events up.
  const charges = made.slice(0, 4).map(({ svc_id }) => ({ billable_metric_id: svc_id, ...RECURRING_CHARGE }));
  for (const code of ['plan', 'other']) await story.plan({ code, amount_cents: 0, charges });
  const granted = Object.fromEntries(privileges.map(({ code }) => [code, 100]));
  await ok(client.post('/plans/plan/entitlements', { entitlements: { api: granted } }));
  await ok(client.post('/plans/other/entitlements', { entitlements: { api: { sums_day: 5, counts_month: 7 } } }));
  await story.subscribe({ subscription_at: subscribedAt, billing_time: 'anniversary' });
  return story;
}

const check = async (story: Story, fields: object = {}, query = '') => {
  const { status, text, body } = await story.client.post(`/access/check${query}`, {
    access: { external_subscription_id: 'sub', feature_code: 'api', amount_cents: 500, ...fields },
  });
  if (status !== 200) throw new Error(text);
  const { source, as_of, ...answer } = body.access;
  return { source, as_of, answer };
};

/** Redis loses what access checks keep, and the notes of changes with it. */
async function flush(organizationId: string): Promise<void> {
  const keys = await keysOf(service.redis, `${service.config.REDIS_PREFIX}:acc*:{${organizationId}}*`);
  // At once, as a node loses them: they have one tag.
  if (keys.length > 0) await service.redis.del(keys);
}

/** Much less than what a hash is kept for: only a right one can answer meanwhile. */
const AGREE_WITHIN_MS = 25_000;

/** Once nothing is owed any more, a counter answers, and what Postgres says. */
async function agree(story: Story): Promise<void> {
  await until(async () => {
    const [owed] = await service.sql<{ count: number }[]>`
      select (select count(*) from after_steps
          where organization_id = ${story.organizationId} and due_at is null and failed_at is null)
        + (select count(*) from event_batches where organization_ids @> array[${story.organizationId}::uuid]) as count`;
    return owed!.count === 0;
  });
  let last: unknown;
  await until(async () => {
    await check(story);
    const counted = await check(story);
    const exact = await check(story, {}, '?exact=true');
    last = { counted, exact: exact.answer };
    return counted.source === 'counter' && JSON.stringify(counted.answer) === JSON.stringify(exact.answer);
  }, AGREE_WITHIN_MS).catch(() => expect(last).toEqual('a counter that agrees'));
}

/** Reproducible numbers from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const VALUES = [1, 2, 5, -3, 0.5, '0.1', '12.000001', '0.00000001', 'none', '9100000000', 7];
const STEPS = 25;

test.each([1, 2, 3])(
  'the access counter equals the truth after events, corrections, changes and periods in any order (%i)',
  async (seed) => {
    const story = await limited();
    const { client } = story;
    const random = randomOf(seed);
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
    const sent: string[] = [];
    let now = Date.parse(NOW);
    let wallet: string | undefined;
    let hold: string | undefined;

    const event = () => {
      const transaction_id = random() < 0.1 && sent.length > 0 ? pick(sent) : `t${sent.length}`;
      sent.push(transaction_id);
      const agoHours = pick([0, 0, 0, 1, 15, 24 * 4, 24 * 30, -10]);
      return {
        transaction_id,
        external_subscription_id: 'sub',
        code: pick(METRICS).code,
        timestamp: String((now - agoHours * 3_600_000 - Math.floor(random() * 3_600_000)) / 1000),
        properties: { n: pick(VALUES), who: pick(['a', 'b', 'c']), operation_type: pick(['add', 'add', 'remove']) },
      };
    };
    const actions: Record<string, () => Promise<unknown>> = {
      one: () => client.post('/events', { event: event() }),
      many: () => client.post('/events/batch?mode=tolerant', { events: Array.from({ length: 8 }, event) }),
      atOnce: () =>
        Promise.all([...Array.from({ length: 5 }, () => client.post('/events', { event: event() })), check(story)]),
      keyed: () => client.post('/events', { event: event() }, { headers: { 'Idempotency-Key': `k${sent.length}` } }),
      amend: () =>
        client.post('/events/corrections', {
          correction: {
            kind: 'amend',
            reason: 'r',
            external_subscription_id: 'sub',
            transaction_id: pick(sent),
            properties: { n: pick(VALUES), who: 'd' },
          },
        }),
      retract: () =>
        client.post('/events/corrections', {
          correction: { kind: 'retract', reason: 'r', external_subscription_id: 'sub', transaction_id: pick(sent) },
        }),
      async advance() {
        now += pick([5, 600, 60 * 14, 60 * 24 * 3, 60 * 24 * 20]) * 60_000;
        await story.advanceTo(new Date(now).toISOString());
      },
      flush: () => flush(story.organizationId),
      override: () =>
        client.patch('/subscriptions/sub/entitlements', { entitlements: { api: { sums_day: pick([1, 4, 9]) } } }),
      zone: () =>
        story.customer({ timezone: pick(['UTC', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe']) }),
      async wallet() {
        const answer = await client.post('/wallets', {
          wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'USD', granted_credits: '10' },
        });
        if (answer.status === 200) wallet = answer.body.wallet.svc_id;
      },
      async hold() {
        if (!wallet) return;
        const answer = await client.post(`/wallets/${wallet}/holds`, {
          hold: { amount_cents: 100, expires_in_seconds: pick([60, 3600]) },
        });
        hold = answer.body.hold?.svc_id ?? hold;
      },
      release: async () => hold && client.post(`/wallets/${wallet}/holds/${hold}/release`),
      settle: async () => hold && client.post(`/wallets/${wallet}/holds/${hold}/settle`, { hold: { event: event() } }),
      switch: () =>
        client.post('/subscriptions', {
          subscription: { external_customer_id: 'acme', external_id: 'sub', plan_code: pick(['plan', 'other']) },
        }),
    };
    const often = ['one', 'one', 'one', 'many', 'many', 'atOnce', 'keyed', 'amend', 'retract', 'advance'];
    await actions.wallet!();
    for (let step = 0; step < STEPS; step += 1) {
      await actions[pick([...often, ...Object.keys(actions)])]!();
      await agree(story);
    }
  },
);

// access-check.md, AC2.
test('after a flush of Redis the first access answer comes from the database and is the same', async () => {
  const story = await limited();
  const send = (n: number) =>
    client.post('/events', {
      event: {
        transaction_id: `t${n}`,
        external_subscription_id: 'sub',
        code: 'sums',
        timestamp: Date.parse(NOW) / 1000,
        properties: { n },
      },
    });
  const { client } = story;
  await send(99);
  const answers = async () => {
    const one = await check(story, { units: 1 });
    const two = await check(story, { units: 2 });
    return [one.source, one.answer.reasons, two.source, two.answer.reasons];
  };
  const reached = ['usage_limit_reached', 'wallet_not_found'];
  expect(await answers()).toEqual(['database', ['wallet_not_found'], 'counter', reached]);
  await flush(story.organizationId);
  expect(await answers()).toEqual(['database', ['wallet_not_found'], 'counter', reached]);
  expect((await check(story, {}, '?exact=true')).source).toBe('database');
  await send(1);
  expect(await answers()).toEqual(['counter', reached, 'counter', reached]);
});

// access-check.md, AC7.
test('after 10 000 events in 4 workers with checks and flushes among them the counter equals the rollup', async () => {
  const story = await limited();
  const counters = () => openCounters(service.redis, service.config.REDIS_PREFIX);
  const worker = async (name: number) => {
    const deps = {
      sql: service.sql,
      log: createLog({ level: 'silent', process: 'test' }),
      producer: { add: async () => {} },
      catalogs: new CatalogCache(),
      counters: counters(),
    };
    for (let batch = 0; batch < 25; batch += 1)
      await storeEvents(deps, [
        incoming(
          story.organizationId,
          Array.from({ length: 100 }, (_, index) => ({
            transaction_id: `w${name}-${batch}-${index}`,
            external_subscription_id: 'sub',
            code: index % 2 === 0 ? 'sums' : 'counts',
            timestamp: Date.parse(NOW) / 1000,
            properties: { n: 2 },
          })),
          { sandbox: true, received_at: '2026-03-09T10:00:00.000001Z' },
        ),
      ]);
  };
  let isOver = false;
  const meanwhile = async () => {
    for (let n = 1; !isOver; n += 1) {
      await check(story);
      if (n % 40 === 0) await flush(story.organizationId);
    }
  };
  const checking = meanwhile();
  await Promise.all([1, 2, 3, 4].map(worker));
  isOver = true;
  await checking;

  const used = (code: string) => (usage: { billable_metric_code: string; used: string }[]) =>
    usage.filter((each) => each.billable_metric_code === code).map((each) => each.used);
  const kept = await until(async () => {
    const answer = await check(story);
    return answer.source === 'counter' ? answer.answer.usage : undefined;
  });
  expect(used('sums')(kept)).toEqual(['10000.0', '10000.0', '10000.0', '10000.0']);
  expect(used('counts')(kept)).toEqual(['5000.0', '5000.0', '5000.0', '5000.0']);
});
