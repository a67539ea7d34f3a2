import { expect, test } from 'vitest';
import { type Asking, KeyCache } from '../../src/ingress/authenticate.ts';
import type { Sql } from '../../src/platform/db/connect.ts';
import { refuse } from '../../src/platform/refusal.ts';

const row = (permissions: object) => ({
  api_key_id: 'key',
  organization_id: 'acme',
  permissions,
  expires_at: null,
  sandbox: false,
  limits: {},
});

/** An address that is over its limit once more than `limit` unknown keys came from it. */
function asking(limit = Number.POSITIVE_INFINITY): Asking {
  let unknown = 0;
  return {
    address: () => '192.0.2.1',
    refuseIfOver() {
      if (unknown > limit) throw refuse.tooManyRequests();
    },
    async refuseUnknown() {
      unknown += 1;
      this.refuseIfOver();
      throw refuse.unauthorized();
    },
  };
}

/** A fragment of a statement has no values, a statement has the digest of a key as its last. */
const statements = (read: (digest: Buffer) => Promise<object[]>) =>
  ((_text: unknown, ...values: unknown[]) =>
    values.length === 0 ? {} : read(values.at(-1) as Buffer)) as unknown as Sql;

/** Knows one key, the one that is read first; counts what it is asked. */
function countingSql() {
  const asked: string[] = [];
  const sql = statements(async (digest) => {
    asked.push(digest.toString('hex'));
    return digest.toString('hex') === asked[0] ? [row({})] : [];
  });
  return { sql, asked };
}

const statuses = (answers: PromiseSettledResult<unknown>[]) =>
  answers.map((answer) => (answer.status === 'fulfilled' ? 200 : (answer.reason as { status: number }).status));

test('a key that was read before its change was announced is not cached', async () => {
  const reads: ((rows: object[]) => void)[] = [];
  const keys = new KeyCache(statements(() => new Promise((resolve) => reads.push(resolve))));
  const before = keys.identify('Bearer one', asking());
  await Promise.resolve();
  keys.forget('acme');
  reads[0]!([row({ customer: ['write'] })]);
  await before;
  const after = keys.identify('Bearer one', asking());
  await Promise.resolve();
  expect(reads).toHaveLength(2);
  reads[1]!([row({})]);
  expect(await after).toMatchObject({ permissions: {} });
  expect(keys.identify('Bearer one', asking())).toMatchObject({ permissions: {} });
});

test('invalid keys cost no query once their address is over its limit, also when they arrive together', async () => {
  const { sql, asked } = countingSql();
  const keys = new KeyCache(sql);
  const caller = asking(20);
  await keys.identify('Bearer real', caller);
  const flood = Array.from({ length: 500 }, async (_, index) => keys.identify(`Bearer made-up-${index}`, caller));
  const answers = statuses(await Promise.allSettled(flood.map(async (each) => each)));
  expect(answers.filter((status) => status === 401)).toHaveLength(20);
  expect(answers.filter((status) => status === 429)).toHaveLength(480);
  // The real key, those up to the limit, the one that goes over it, and what was being read beside that one.
  expect(asked.length).toBeLessThanOrEqual(1 + 20 + 1 + 3);
});

test('a flood of invalid keys leaves valid ones in the cache', async () => {
  const { sql, asked } = countingSql();
  const keys = new KeyCache(sql);
  await keys.identify('Bearer real', asking());
  for (let n = 0; n < 60_000; n += 1)
    await Promise.resolve(keys.identify(`Bearer made-up-${n}`, asking())).catch(() => undefined);
  expect(keys.identify('Bearer real', asking())).toMatchObject({ apiKeyId: 'key' });
  expect(asked).toHaveLength(60_001);
}, 60_000);

test('many valid keys from one address are all found, a few at a time', async () => {
  let running = 0;
  let most = 0;
  const sql = statements(async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
    return [row({})];
  });
  const keys = new KeyCache(sql);
  const caller = asking(20);
  const found = await Promise.all(Array.from({ length: 40 }, (_, n) => keys.identify(`Bearer real-${n}`, caller)));
  expect(found.every((identity) => identity !== null)).toBe(true);
  expect(most).toBeLessThanOrEqual(4);
});
