import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Context } from '../../src/platform/context.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const POOL = 6;
/** Longer than this test is patient, and shorter than a read may take (30 s): what ends early was cancelled. */
const SLEEPS = 'pg_sleep(25)';

const probe = (name: string, run: Operation['run']): Operation => ({
  name,
  method: 'get',
  path: `/${name}`,
  permission: null,
  summary: 'Probe',
  tag: 'probes',
  answer: z.object({}),
  kind: 'read',
  run,
});
/** A read that holds two connections for long, and would begin another statement afterwards. */
const slow = probe('slow', async ({ db }: Context) => {
  const parts = await Promise.allSettled([db`select pg_sleep(25)`, db`select pg_sleep(25), 1`]);
  await db`select pg_sleep(25), 2`;
  return { parts };
});
const slowTransaction = probe('slow_transaction', async ({ db }: Context) =>
  (db as TestService['sql']).begin('read only', async (tx) => [...(await tx`select pg_sleep(25)`)]),
);
const quick = probe('quick', async ({ db }: Context) => {
  const piece = db`select ${1}::integer as one`;
  const [row] = await db<{ one: number }[]>`select * from (${piece}) as piece`;
  return { one: row!.one, many: (await db`select n from generate_series(1, ${3}::integer) n`).length };
});
const broken = probe('broken', async ({ db }: Context) => db`select 1 / 0`);

/** Struck by the cancelling of another read's statement, as often as `strikes` says. */
let strikes = 0;
const struck = probe('struck', async ({ db }: Context) => {
  const [own] = await db<{ pid: number }[]>`select pg_backend_pid() as pid`;
  if (strikes > 0) {
    strikes -= 1;
    const strike = until(async () => {
      const hit = await service.sql`
        select pg_cancel_backend(pid) from pg_stat_activity
        where query like '%struck%' and state = 'active' and pid <> pg_backend_pid()`;
      return hit.length > 0;
    });
    await db`select pg_sleep(20), 'struck'`.finally(() => strike);
  }
  return { isThere: own!.pid > 0 };
});

let service: TestService;
beforeAll(async () => {
  service = await startService({
    operations: [slow, slowTransaction, quick, broken, struck],
    pools: [],
    settings: { DATABASE_POOL: String(POOL) },
  });
});
afterAll(() => service.stop());

const active = async () => {
  const [row] = await service.sql<{ count: number }[]>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database()
      and state = 'active' and query like ${`%${SLEEPS}%`} and pid <> pg_backend_pid()`;
  return row!.count;
};

/** Starts a call; the answer ends it without waiting for its answer. */
function call(apiKey: string, path: string): () => Promise<void> {
  const leaving = new AbortController();
  const answer = request(`${service.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: leaving.signal,
  }).then(
    ({ body }) => body.dump(),
    () => undefined,
  );
  return async () => {
    leaving.abort();
    await answer;
  };
}

test('reads give the same answers when statements share connections, whatever pieces they are made of', async () => {
  const org = await service.org();
  expect((await org.get('/quick')).body).toEqual({ one: 1, many: 3 });
  expect((await org.get('/broken')).status).toBe(500);
  const many = await Promise.all(Array.from({ length: 50 }, () => org.get('/quick')));
  expect(many.every(({ status }) => status === 200)).toBe(true);
});

test.each(['/slow', '/slow_transaction'])(
  'parallel slow reads of one organization (%s) leave connections to the others and end with their callers',
  async (path) => {
    const [greedy, other] = [await service.org(), await service.org()];
    await Promise.all([greedy.get('/quick'), other.get('/quick')]);
    const calls = Array.from({ length: 14 }, () => call(greedy.organization.api_key, path));
    await until(async () => (await active()) >= POOL / 2);
    for (let n = 0; n < 20; n += 1) expect((await other.get('/quick')).status).toBe(200);
    // The slow ones sleep on: nobody waited for them.
    expect(await active()).toBe(POOL / 2);
    await Promise.all(calls.map((leave) => leave()));
    await until(async () => (await active()) === 0, 15_000);
    await sleep(300);
    expect(await active()).toBe(0);
    expect((await greedy.get('/quick')).status).toBe(200);
  },
);

test('a read hit by the cancellation of another one is repeated once', async () => {
  const org = await service.org();
  strikes = 1;
  expect(await org.get('/struck')).toMatchObject({ status: 200, body: { isThere: true } });
  strikes = 2;
  expect(await org.get('/struck')).toMatchObject({ status: 503 });
  strikes = 0;
});
