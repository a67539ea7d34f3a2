import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import type { AccessFacts } from '../../../../src/areas/usage/access/access-facts.ts';
import { type AccessCounters, openCounters } from '../../../../src/areas/usage/access/counters.ts';
import { decimal } from '../../../../src/engine/money/decimal.ts';
import { noteAccessChanges } from '../../../../src/platform/redis/access-changes.ts';
import { connectPatiently } from '../../../../src/platform/redis/connect.ts';
import { removeAllKeys } from '../../../support/redis-keys.ts';

const SUM = { code: 'calls', aggregation_type: 'sum_agg', field_name: 'n' } as const;
const PREFIX = `t${randomUUID().slice(0, 8)}`;
const CUSTOMER = 'f0000000-0000-7000-8000-000000000000';
let redis: Redis;
let counters: AccessCounters;
let organization: string;

beforeAll(() => {
  redis = connectPatiently(inject('redisUrl'), 'test');
  counters = openCounters(redis, PREFIX);
});
beforeEach(() => {
  organization = randomUUID();
});
afterAll(async () => {
  await flush();
  redis.disconnect();
});

async function flush() {
  await removeAllKeys(redis, PREFIX);
}

/** 10 units used in March, in a snapshot in which transactions 102 and 105 and later are not. */
const facts = (used = '10', changes: Partial<AccessFacts['windows'][number]> = {}): AccessFacts => ({
  subscription: { id: 's', customer_id: CUSTOMER, currency: 'EUR' },
  isOverdue: false,
  features: [],
  windows: [
    {
      metric: SUM,
      from: '2026-03-01T00:00:00Z',
      to: '2026-04-01T00:00:00Z',
      isHeir: false,
      used: decimal(used),
      ...changes,
    },
  ],
  wallets: [],
  from: null,
  until: null,
  snapshot: '100:105:102',
});

const add = (
  transaction: number,
  units: string | null = '1',
  first = '2026-03-09T10:00:00.000000Z',
  last = first,
  metric: object = SUM,
) =>
  counters.add({
    transaction: String(transaction),
    groups: [
      {
        organization_id: organization,
        external_subscription_id: 'sub',
        metric: metric as typeof SUM,
        units: units === null ? null : decimal(units),
        first,
        last,
      },
    ],
  });

async function keep(kept: AccessFacts | null = facts(), meanwhile: () => Promise<unknown> = async () => {}) {
  const opened = await counters.open(organization, 'sub');
  if (!opened) throw new Error('another rebuild is under way');
  await meanwhile();
  await counters.store(organization, 'sub', opened, kept);
}

const used = async () => (await counters.read(organization, 'sub'))?.facts.windows[0]?.used.toFixed();

test.each([
  [99, '10'],
  [101, '10'],
  [102, '11'],
  [104, '10'],
  [105, '11'],
  [900, '11'],
])('after transaction %i, counted unless the cached facts contain it, the usage is %s', async (transaction, total) => {
  await keep();
  await add(transaction);
  expect(await used()).toBe(total);
  await counters.store(organization, 'sub', { token: 'none', epoch: 0 }, facts('0'));
  expect(await used()).toBe(total);
});

test.each([
  [104, '10'],
  [105, '11'],
])('when transaction %i adds while facts are read, the usage is %s by the same rule', async (transaction, total) => {
  await keep(facts(), () => add(transaction));
  expect(await used()).toBe(total);
});

test('cached facts answer until a rebuild beside them is stored', async () => {
  await keep();
  await add(106, '2.5');
  await keep({ ...facts('12.5'), snapshot: '107:107:' }, async () => {
    expect(await used()).toBe('12.5');
    await add(107, '-1');
    expect(await used()).toBe('11.5');
    expect(await counters.open(organization, 'sub')).toBeUndefined();
  });
  expect(await used()).toBe('11.5');
  await add(106, '2.5');
  expect(await used()).toBe('11.5');
});

test.each<[string, Parameters<typeof add>, string | undefined]>([
  ['before the window', [200, '1', '2026-02-28T23:59:59.999999Z'], '10'],
  ['at its start', [200, '1', '2026-03-01T00:00:00.000000Z'], '11'],
  ['at its last microsecond', [200, '0.000001', '2026-03-31T23:59:59.999999Z'], '10.000001'],
  ['at its end', [200, '1', '2026-04-01T00:00:00.000000Z'], '10'],
  ['across its start', [200, '1', '2026-02-28T00:00:00.000000Z', '2026-03-02T00:00:00.000000Z'], undefined],
  ['across its end', [200, '1', '2026-03-31T00:00:00.000000Z', '2026-04-02T00:00:00.000000Z'], undefined],
  ['finer than a millionth', [200, '0.0000001'], undefined],
  ['of what cannot be added', [200, null], undefined],
  ['beyond what scripts count', [200, '9000000000'], undefined],
  ['of another definition', [200, '1', undefined, undefined, { ...SUM, field_name: 'm' }], undefined],
  ['of another metric', [200, '1', undefined, undefined, { ...SUM, code: 'other' }], '10'],
])('events %s: the cached facts continue or are read again', async (_name, given, total) => {
  await keep();
  await add(...given);
  expect(await used()).toBe(total);
});

test('events of other aggregations are never added, and other figures stay as cached', async () => {
  await keep(facts('0.123456789', { metric: { ...SUM, aggregation_type: 'max_agg' } }));
  expect(await used()).toBe('0.123456789');
  await add(200, null, '2026-02-01T00:00:00.000000Z', undefined, { ...SUM, aggregation_type: 'max_agg' });
  expect(await used()).toBeUndefined();
  await keep(facts('0.123456789'));
  await add(200, null, '2026-04-01T00:00:00.000000Z');
  expect(await used()).toBe('0.123456789');
  await add(200, '1');
  expect(await used()).toBeUndefined();
});

test.each([
  ['o', undefined],
  [`c:${CUSTOMER}`, undefined],
  ['s:sub', undefined],
  ['c:another', '10'],
  ['s:another', '10'],
])(
  'a change of %s reaches access checks, whether announced before, during or after facts are read',
  async (scope, total) => {
    const note = () => noteAccessChanges(redis, PREFIX, organization, [scope]);
    await note();
    await keep();
    expect(await used()).toBe('10');
    await note();
    expect(await used()).toBe(total);
    await keep(facts(), note);
    expect(await used()).toBe(total);
    await keep();
    expect(await used()).toBe('10');
  },
);

test('access answers stay right when Redis loses everything at any moment', async () => {
  await keep();
  await flush();
  expect(await used()).toBeUndefined();
  await add(200);
  await keep(facts(), async () => {
    await add(200);
    await flush();
  });
  expect(await used()).toBeUndefined();
  await keep();
  expect(await used()).toBe('10');
  await keep(null);
  expect(await used()).toBe('10');
});
