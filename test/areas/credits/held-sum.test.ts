import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refreshWalletsStep } from '../../../src/areas/billing/bill-wallets/refresh-ongoing-balance.ts';
import { createHold } from '../../../src/areas/credits/wallet-holds/commands.ts';
import { expireHolds } from '../../../src/areas/credits/wallet-holds/expire-holds.ts';
import { expireTogether } from '../../../src/areas/credits/wallet-holds/expire-together.ts';
import { forgetSettled, listAwaiting } from '../../../src/areas/credits/wallet-holds/writes.ts';
import { CREDIT_CHECKS } from '../../../src/areas/reporting/audit-books/credit-checks.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { Sql } from '../../../src/platform/db/connect.ts';
import { readingAt } from '../../support/count-statements.ts';
import { inLongRun } from '../../support/long-run.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

type Org = Awaited<ReturnType<TestService['org']>>;

const { RUNS = String(inLongRun(4, 2)), SEED = '1142' } = process.env;
const GRANTED_CENTS = 1000;
const CALLERS = 8;

let service: TestService;

beforeAll(async () => {
  service = await startService({ pools: ['writes', 'events', 'aggregation', 'billing'] });
});
afterAll(() => service.stop());

/** A wallet of 1000 cents at an organization of its own. */
interface Purse {
  org: Org;
  organizationId: string;
  customerId: string;
  walletId: string;
}

async function openPurse(): Promise<Purse> {
  const org = await service.org();
  const { body } = await org.post('/customers', { customer: { external_id: 'acme', currency: 'USD' } });
  const made = await org.post('/wallets', {
    wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'USD', granted_credits: '10' },
  });
  const { svc_id: walletId } = made.body.wallet;
  await until(async () => (await org.get(`/wallets/${walletId}`)).body.wallet.balance_cents === GRANTED_CENTS);
  const { organization_id: organizationId } = org.organization;
  return { org, organizationId, customerId: body.customer.svc_id, walletId };
}

const holdIn = ({ org, walletId }: Purse, hold: object) => org.post(`/wallets/${walletId}/holds`, { hold });
const contextOf = ({ organizationId }: Purse, sql: Sql) =>
  readingAt(service, sql, organizationId, realNow().toString());

/** What the auditor finds of holds and their sums. */
const findings = async (purse: Purse) =>
  (
    await Promise.all(
      CREDIT_CHECKS.filter(({ code }) => code === 'A26').map(({ find }) => find(contextOf(purse, service.sql))),
    )
  ).flat();

async function expireAll(purse: Purse): Promise<void> {
  const { items: sets } = await expireHolds.select(service.sql, realNow(), 'real-time', { limit: 1000 });
  for (const { organization_id, item } of sets) {
    if (organization_id !== purse.organizationId) continue;
    await service.sql.begin((tx) => expireTogether(contextOf(purse, tx as unknown as Sql), item));
  }
}

const refresh = (purse: Purse) =>
  service.sql.begin((tx) =>
    refreshWalletsStep(contextOf(purse, tx as unknown as Sql), { customer_id: purse.customerId }),
  );

/** Cuts whoever changes a wallet's holds at this moment off from the database. */
const cutOff = () => service.sql`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'
    and query ~ 'wallet_hold|wallet_held|idempotency_keys'`;

/** What callers do; `pick` chooses among the holds that were opened so far. */
const steps: Record<string, (purse: Purse, hold: string, cents: number) => Promise<unknown>> = {
  open: (purse, _, amount_cents) => holdIn(purse, { amount_cents, expires_in_seconds: 1 + (amount_cents % 3) }),
  partly: (purse, _, amount_cents) => holdIn(purse, { amount_cents, allow_partial: true, expires_in_seconds: 600 }),
  change: ({ org, walletId }, hold, amount_cents) =>
    org.put(`/wallets/${walletId}/holds/${hold}`, {
      hold: { amount_cents, expires_in_seconds: 1 + (amount_cents % 3) },
    }),
  release: ({ org, walletId }, hold) => org.post(`/wallets/${walletId}/holds/${hold}/release`),
  settle: ({ org, walletId }, hold, amount_cents) =>
    org.post(`/wallets/${walletId}/holds/${hold}/settle`, { hold: { amount_cents } }),
  use: ({ org, walletId }, hold) =>
    org.post(`/wallets/${walletId}/holds/${hold}/settle`, {
      hold: { event: { transaction_id: randomUUID(), external_subscription_id: 'none', code: 'none' } },
    }),
  expire: (purse) => expireAll(purse),
  refresh: (purse) => refresh(purse),
  cut: () => cutOff(),
};

const step = fc.record({
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('open', 'partly') },
    { weight: 6, arbitrary: fc.constantFrom('change', 'release', 'settle', 'use') },
    { weight: 2, arbitrary: fc.constantFrom('expire', 'refresh', 'cut') },
  ),
  pick: fc.nat(999),
  cents: fc.integer({ min: 1, max: 250 }),
});
const plays = fc.array(fc.array(step, { minLength: 8, maxLength: 16, size: 'max' }), {
  minLength: CALLERS,
  maxLength: CALLERS,
});

test('the held sum of a wallet equals its counting holds, whatever happens together and wherever it is interrupted', {
  timeout: 240_000,
}, async () => {
  let held = 0;
  const play = async (callers: { kind: string; pick: number; cents: number }[][]) => {
    const purse = await openPurse();
    const opened: string[] = [];
    let isOver = false;
    const watched = (async () => {
      while (!isOver) expect(await findings(purse).catch(() => [])).toEqual([]); // may be cut off as well
    })();
    const one = async ({ kind, pick, cents }: { kind: string; pick: number; cents: number }) => {
      const hold = opened[pick % Math.max(1, opened.length)] ?? 'none';
      const answer = await steps[kind]!(purse, hold, cents).catch(() => undefined); // was cut off
      const { body } = (answer ?? {}) as { body?: { hold?: { svc_id: string } } };
      if (body?.hold && !opened.includes(body.hold.svc_id)) opened.push(body.hold.svc_id);
    };
    await Promise.all(
      callers.map(async (own) => {
        for (const each of own) await one(each);
      }),
    );
    isOver = true;
    await watched;
    held += opened.length;
    await expireAll(purse);
    await refresh(purse);
    expect(await findings(purse)).toEqual([]);
    await until(async () => {
      await expireAll(purse);
      return (await openUntil(purse, '100 seconds')) === 0;
    });
    const rest = await holdIn(purse, { amount_cents: 1_000_000, allow_partial: true });
    const [row] = await service.sql`
      select sum(amount_cents) as cents from wallet_holds where wallet_id = ${purse.walletId} and status = 'open'`;
    expect(rest.status === 200 ? Number(row!.cents) : GRANTED_CENTS).toBe(GRANTED_CENTS);
    expect(await findings(purse)).toEqual([]);
  };
  await fc.assert(fc.asyncProperty(plays, play), { numRuns: Number(RUNS), seed: Number(SEED), endOnFailure: true });
  expect(held).toBeGreaterThan(Number(RUNS) * CALLERS);
});

/** Holds that are open and end within a time from now on. */
async function openUntil({ walletId }: Purse, within: string): Promise<number> {
  const [row] = await service.sql`
    select count(*) from wallet_holds
    where wallet_id = ${walletId} and status = 'open' and expires_at <= now() + ${within}::interval`;
  return row!.count as number;
}

test('a decision on a wallet with many open holds reads a bounded number of them', async () => {
  const purse = await openPurse();
  await service.sql`
    insert into wallet_holds (id, organization_id, wallet_id, amount_cents, available_cents, expires_at, created_at,
      updated_at)
    select gen_random_uuid(), ${purse.organizationId}, ${purse.walletId}, 1, 1000,
      now() + interval '1 hour', now(), now()
    from generate_series(1, 800)`;
  await service.sql`analyze wallet_holds`;
  const hold = async (svc_id: string) => {
    const body = { amount_cents: 100, expires_in_seconds: 60, allow_partial: true };
    return service.sql.begin(async (tx) => {
      const before = await rowsRead(tx as unknown as Sql);
      await createHold(contextOf(purse, tx as unknown as Sql), { svc_id, body });
      return (await rowsRead(tx as unknown as Sql)) - before;
    });
  };
  expect(await hold(purse.walletId)).toBeLessThanOrEqual(2);
  expect(await hold(purse.walletId)).toBeLessThanOrEqual(2);
  await expect(hold(purse.walletId)).rejects.toMatchObject({ status: 422 });
  expect(await findings(purse)).toEqual([]);
});

/** Rows of holds that a transaction has read so far. */
async function rowsRead(tx: Sql): Promise<number> {
  const [row] = await tx`
    select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as rows
    from pg_stat_xact_user_tables where relname = 'wallet_holds'`;
  return Number(row!.rows);
}

test('a hold settled while the ongoing balance is computed counts until the next computation', async () => {
  const purse = await openPurse();
  const { org, walletId, organizationId, customerId } = purse;
  const settled = async () => {
    const { body } = await holdIn(purse, { amount_cents: 100 });
    await service.sql`
      update wallet_holds set status = 'settled', closed_at = now(), awaits_refresh = true
      where id = ${body.hold.svc_id}`;
  };
  await settled();
  await service.sql.begin(async (tx) => {
    const awaiting = await listAwaiting({ db: tx as unknown as Sql, organizationId: organizationId }, customerId);
    await settled();
    await forgetSettled({ db: tx as unknown as Sql, organizationId: organizationId }, awaiting);
  });
  expect(await findings(purse)).toEqual([]);
  const rest = await org.post(`/wallets/${walletId}/holds`, { hold: { amount_cents: 5000, allow_partial: true } });
  expect(rest.body.hold.amount_cents).toBe(GRANTED_CENTS - 100);
});
