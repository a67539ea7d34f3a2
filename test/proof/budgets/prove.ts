import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../support/client.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';
import { type CallersReport, type CallersTerms, runCallers } from './callers.ts';
import { type Checked, checkLedger } from './check-ledger.ts';
import type { Stand } from './stand.ts';

export interface ProofTerms {
  callers: number;
  /** Of each of the three runs. */
  seconds: number;
  /** How many processes are killed, and how often connections are cut and Redis is emptied. */
  kills: number;
  cuts: number;
  flushes: number;
  restartsPostgres: boolean;
}

export interface Proof {
  runs: { name: string; checked: Checked; report: CallersReport }[];
  strikes: string[];
}

/** Calls of each caller before the next round, so that a machine of any speed reaches the limit of the first. */
const CALLS_A_ROUND = 6;
/** Tokens of a round: some 40 holds, while 64 callers ask 384 times. */
const LIMIT = '1000';
const USERS = 1000;
const TEAMS = 10;

/**
 * Callers spend up to limits, while the service is struck: first with holds alone, then half without holds, then 1 000
 * users under a team and an organization.
 */
export async function prove(stand: Stand, terms: ProofTerms): Promise<Proof> {
  const client = createClient(stand.urls[0]!, stand.organization.api_key);
  await makeWorld(client);
  const strikes: string[] = [];
  const runs: Proof['runs'] = [];
  const run = async (name: string, own: Pick<CallersTerms, 'propertiesOf' | 'isUnheld'>, struck: boolean) => {
    const callers = runCallers({
      urls: stand.urls,
      apiKey: stand.organization.api_key,
      callers: terms.callers,
      seconds: terms.seconds,
      callsARound: CALLS_A_ROUND,
      name,
      ...own,
    });
    await Promise.all([callers, struck ? strike(stand, terms, strikes) : undefined]);
    const report = await callers;
    await stand.ready();
    await allFolded(stand);
    const checked = await checkLedger(stand.sql, stand.organization.organization_id, {
      run: name,
      answers: report.answers,
      isAllHeld: name !== 'mixed',
    });
    runs.push({ name, checked, report });
  };
  const roundsOf = (name: string) => (_: number, round: number) => ({ run: name, round: `r${round}` });
  await run('held', { propertiesOf: roundsOf('held'), isUnheld: () => false }, true);
  await run('mixed', { propertiesOf: roundsOf('mixed'), isUnheld: (number) => number % 2 === 1 }, false);
  await run(
    'users',
    {
      isUnheld: () => false,
      propertiesOf: (caller, round) => {
        const user = Math.floor(Math.random() * USERS);
        return { run: 'users', round: `r${round}`, user: `u${user}`, team: `t${user % TEAMS}`, caller: String(caller) };
      },
    },
    false,
  );
  return { runs, strikes };
}

async function makeWorld(client: ReturnType<typeof createClient>): Promise<void> {
  await ok(client.post('/ai/setup', { setup: {} }));
  await ok(
    client.post('/plans', {
      plan: {
        name: 'P',
        code: 'p',
        interval: 'monthly',
        amount_cents: 0,
        amount_currency: 'USD',
        pay_in_advance: false,
      },
    }),
  );
  await ok(client.post('/customers', { customer: { external_id: 'ada', name: 'Ada', currency: 'USD' } }));
  await ok(
    client.post('/subscriptions', {
      subscription: { external_customer_id: 'ada', plan_code: 'p', external_id: 'ada-1' },
    }),
  );
  const make = (code: string, limit: string, run: string, group_by: string[]) =>
    ok(
      client.post('/budgets', {
        budget: {
          code,
          name: code,
          scope: 'organization',
          measure: 'tokens',
          period: 'lifetime',
          limit,
          match: { run },
          group_by,
        },
      }),
    );
  await make('held', LIMIT, 'held', ['round']);
  await make('mixed', LIMIT, 'mixed', ['round']);
  await make('all', LIMIT, 'users', ['round']);
  await make('team', '400', 'users', ['round', 'team']);
  await make('user', '60', 'users', ['round', 'user']);
}

/** Strikes the service while its callers go on. */
async function strike(stand: Stand, terms: ProofTerms, told: string[]): Promise<void> {
  const plan: [name: string, strike: () => Promise<void>][] = [];
  const add = (times: number, name: string, each: () => Promise<void>) => {
    for (let index = 0; index < times; index += 1) plan.push([name, each]);
  };
  for (let index = 0; index < terms.kills; index += 1) {
    const { name, kill } = stand.processes[index % stand.processes.length]!;
    plan.push([`kill -9 ${name}`, kill]);
  }
  add(terms.flushes, 'FLUSHALL', stand.flushRedis);
  add(terms.cuts, 'connections cut', stand.cutConnections);
  if (terms.restartsPostgres) plan.push(['Postgres restarted', stand.restartPostgres]);
  const mixed = spread(plan);
  await stand.keepRedis();
  mixed.splice(Math.floor(mixed.length / 2), 0, ['Redis restored from an older file', stand.restoreRedis]);
  const pauseMs = (terms.seconds * 1000) / (mixed.length + 1);
  for (const [name, each] of mixed) {
    await sleep(pauseMs);
    await each();
    told.push(name);
  }
}

/** The same in another order, in which equal ones are apart. */
const spread = <Thing>(things: readonly Thing[]): Thing[] =>
  things
    .map((thing, index) => ({ thing, place: (index * 7919) % things.length, index }))
    .sort((a, b) => a.place - b.place || a.index - b.index)
    .map(({ thing }) => thing);

/** The sweep has folded what no decision has, and ended what was left alone. */
const allFolded = ({ sql, organization: { organization_id } }: Stand): Promise<boolean> =>
  until(
    async () => {
      const [row] = await sql<{ open: boolean }[]>`
        select exists (select from budget_entries where organization_id = ${organization_id} and folded_at is null)
          or exists (
            select from budget_holds
            where organization_id = ${organization_id} and status = 'open' and expires_at <= clock_timestamp())
          as open`;
      return !row!.open;
    },
    60_000,
    200,
  );
