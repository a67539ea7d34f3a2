import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { expireHolds } from '../../../src/areas/credits/wallet-holds/expire-holds.ts';
import { registryOf } from '../../../src/jobs/run-periodic/periodic-registry.ts';
import { runWork } from '../../../src/jobs/run-periodic/run-item.ts';
import { runTick } from '../../../src/jobs/run-periodic/run-tick.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import type { DueItem } from '../../../src/platform/periodic-job.ts';
import { reactions } from '../../../src/reactions.ts';
import { recordingProducer, scratchDeps } from '../../jobs/advance-clock/scratch.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

type Org = Awaited<ReturnType<TestService['org']>>;

let service: TestService;
let busy: Org;
let quiet: Org;
/** Statements that the periodic work sent. */
const statements: string[] = [];
let counted: Sql;

beforeAll(async () => {
  service = await startService();
  counted = connectDatabase(service.config.DATABASE_URL!, {
    connections: 2,
    onStatement: (text) => statements.push(text),
  });
});
afterAll(async () => {
  await counted.end();
  await service.stop();
});
beforeEach(async () => {
  await service.sql`update wallet_holds set status = 'released', closed_at = expires_at where status = 'open'`;
  [busy, quiet] = [await service.org(), await service.org()];
  statements.length = 0;
});

/**
 * Open holds of 1 cent of a wallet of 10 000, the first of which expired `seconds` ago, each later one a second after.
 */
async function expiredHolds(org: Org, count: number, seconds: number): Promise<void> {
  const customer = { external_id: 'acme', currency: 'USD' };
  expect((await org.post('/customers', { customer })).status).toBe(200);
  await org.post('/webhook_endpoints', {
    webhook_endpoint: { webhook_url: 'https://hooks.example.com/h', event_types: ['wallet_hold.expired'] },
  });
  const { body } = await org.post('/wallets', {
    wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'USD', granted_credits: '100' },
  });
  const { svc_id: id } = body.wallet;
  await until(async () => (await org.get(`/wallets/${id}`)).body.wallet.balance_cents === 10_000);
  await service.sql`
    insert into wallet_holds (id, organization_id, wallet_id, amount_cents, available_cents, expires_at, created_at,
      updated_at)
    select gen_random_uuid(), ${org.organization.organization_id}, ${id}, 1, 10000,
      now() + make_interval(secs => number - ${seconds}::int), now() - interval '1 day', now() - interval '1 day'
    from generate_series(0, ${count - 1}::int) number`;
}

const due = async (): Promise<DueItem[]> =>
  (await expireHolds.select(service.sql, realNow(), 'real-time', { limit: 1000 })).items;

async function work(item: DueItem): Promise<void> {
  const payload = {
    job: expireHolds.name,
    organization_id: item.organization_id,
    at: realNow().toString(),
    item: item.item,
  };
  const producer = service.ingress.producer;
  const deps = {
    sql: counted,
    config: service.config,
    reactions,
    producer,
    log: createLog({ level: 'silent', process: 'test' }),
  };
  await runWork(deps, registryOf(service.config), payload);
}

const stateOf = async (org: Org) => {
  const id = org.organization.organization_id;
  const [row] = await service.sql`
    select count(*) filter (where status = 'open') as open,
      count(*) filter (where status = 'expired' and closed_at = expires_at) as expired,
      (select count(*) from webhook_events where organization_id = ${id}
        and webhook_type = 'wallet_hold.expired') as announced
    from wallet_holds where organization_id = ${id}`;
  return row;
};

test('500 expired holds are closed in three sets of a few statements each and announced once each', async () => {
  await expiredHolds(busy, 500, 10_000);
  const sets = await due();
  expect(sets).toHaveLength(3);
  for (const set of sets) await work(set);
  expect(statements.length).toBeLessThanOrEqual(3 * 8);
  expect(await stateOf(busy)).toEqual({ open: 0, expired: 500, announced: 500 });

  for (const set of sets) await work(set);
  expect(await due()).toEqual([]);
  expect(await stateOf(busy)).toEqual({ open: 0, expired: 500, announced: 500 });
});

test('an organization with many expired holds does not delay any other one', async () => {
  await expiredHolds(busy, 500, 10_000);
  await expiredHolds(quiet, 3, 100);
  const ids = [busy, quiet].map(({ organization }) => organization.organization_id);
  const producer = recordingProducer();
  const deps = { ...scratchDeps(service.sql), redis: service.redis, producer };
  const at = realNow().toString();
  await runTick(deps, registryOf(service.config), { job: 'expire-holds', at }, { lastAttempt: true });
  const owners = producer.added.map(({ payload }) => (payload as { organization_id: string }).organization_id);
  expect(owners).toEqual([ids[0], ids[1], ids[0], ids[0]]);
});

test('a hold that a command is changing is left to the next tick, and no set waits for it', async () => {
  await expiredHolds(quiet, 3, 100);
  const [set] = await due();
  const [changing] = (set!.item as { hold_ids: string[] }).hold_ids;
  await service.sql.begin(async (tx) => {
    await tx`select from wallet_holds where id = ${changing!} for update`;
    await work(set!);
    expect(await stateOf(quiet)).toMatchObject({ open: 1, expired: 2, announced: 2 });
  });
  const [rest] = await due();
  expect(rest!.item).toEqual({ hold_ids: [changing] });
  await work(rest!);
  expect(await stateOf(quiet)).toMatchObject({ open: 0, expired: 3, announced: 3 });
});

test('a hold that was prolonged or settled meanwhile does not expire', async () => {
  await expiredHolds(quiet, 3, 100);
  const [set] = await due();
  const [prolonged, settled] = (set!.item as { hold_ids: string[] }).hold_ids;
  await service.sql`update wallet_holds set expires_at = now() + interval '1 hour' where id = ${prolonged!}`;
  await service.sql`update wallet_holds set status = 'settled', closed_at = now() where id = ${settled!}`;
  await work(set!);
  expect(await stateOf(quiet)).toMatchObject({ open: 1, expired: 1, announced: 1 });
});
