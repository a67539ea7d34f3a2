import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Temporal } from 'temporal-polyfill';
import { realNowExactMs, realNowMs } from '../clock/real-clock.ts';
import type { Sql } from '../db/connect.ts';
import { groupRows } from '../lists/group-rows.ts';
import type { Redis } from '../redis/connect.ts';
import type { Runtime } from './runtime.ts';

/** A process of the deployment, as it says of itself. */
export interface EnrolledProcess {
  /** `ingress`, or the pool. */
  name: string;
  /** Machine and process id. */
  copy: string;
  /** Connections to Postgres that it may open. */
  connections: number;
  /** How far its clock is before that of Postgres (after it: below 0); null while Postgres does not answer. */
  clockAheadMs: number | null;
}

/** A process says every ten seconds that it is there, and is forgotten after thirty. */
const SAY_EVERY_MS = 10_000;
const THERE_FOR_MS = 30_000;
const FORGOTTEN_AFTER_MS = 3_600_000;
const COMPARE_CLOCKS_EVERY_MS = 3_600_000;
/** From which difference on an operator is told, and from which a process must not date anything. */
export const CLOCK_WARNS_MS = 1000;
export const CLOCK_WRONG_MS = 30_000;

const keyOf = (prefix: string): string => `${prefix}:processes`;

/**
 * Lists this process in Redis, with what an operator has to add up over all hosts, until it is closed; compares its
 * clock with that of Postgres at the start and every hour.
 *
 * Rule: several-hosts.md#clocks.
 */
export async function enrol(
  runtime: Pick<Runtime, 'sql' | 'redis' | 'config' | 'log' | 'connections'>,
  name: string,
): Promise<{ close(): Promise<void> }> {
  const { sql, redis, config, log } = runtime;
  const [key, id] = [keyOf(config.REDIS_PREFIX), randomUUID()];
  let clockAheadMs: number | null = null;
  const compare = async () => {
    clockAheadMs = await clockAhead(sql).catch(() => null); // Postgres is away; the next look finds it
    if (clockAheadMs !== null && Math.abs(clockAheadMs) > CLOCK_WARNS_MS)
      log.warn({ aheadMs: clockAheadMs }, 'the clock of this machine is not that of Postgres');
  };
  const say = async () => {
    if (clockAheadMs === null) await compare();
    const about = { name, copy: `${hostname()}-${process.pid}`, connections: runtime.connections(), clockAheadMs };
    await redis.hset(key, id, JSON.stringify({ ...about, saidAtMs: await timeOf(redis) }));
  };
  let last = compare().then(say);
  await last.catch(() => {}); // Redis is away; the next one says it
  log.info({ connections: runtime.connections() }, 'connections to Postgres that this process may open');
  const timers = [
    setInterval(() => {
      last = say();
      last.catch(() => {}); // the same
    }, SAY_EVERY_MS),
    setInterval(() => void compare(), COMPARE_CLOCKS_EVERY_MS),
  ];
  return {
    async close() {
      for (const timer of timers) clearInterval(timer);
      await last.catch(() => {});
      await redis.hdel(key, id).catch(() => {}); // it is forgotten by itself
    },
  };
}

/** The processes of all hosts that have been there lately. */
export async function listEnrolled(redis: Redis, prefix: string): Promise<EnrolledProcess[]> {
  const said = await listSaid(redis, prefix);
  return said.filter(({ isThere }) => isThere).map(({ isThere: _there, saidAtMs: _at, ...about }) => about);
}

/** A kind of process: how many are there, and when the last of them was, also where none is any more. */
export interface EnrolledPool {
  name: string;
  processes: number;
  lastSeenAt: Temporal.Instant;
}

/** The ingress and the pools that were there within the last hour, by name. */
export async function listEnrolledPools(redis: Redis, prefix: string): Promise<EnrolledPool[]> {
  return [...groupRows(await listSaid(redis, prefix), ({ name }) => name)]
    .map(([name, copies]) => ({
      name,
      processes: copies.filter(({ isThere }) => isThere).length,
      lastSeenAt: Temporal.Instant.fromEpochMilliseconds(
        Math.floor(Math.max(...copies.map(({ saidAtMs }) => saidAtMs))),
      ),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What processes said within the last hour, by the clock of Redis, since theirs may differ. */
async function listSaid(redis: Redis, prefix: string) {
  const [stored, nowMs] = await Promise.all([redis.hgetall(keyOf(prefix)), timeOf(redis)]);
  const said = Object.entries(stored).map(([id, text]) => ({
    id,
    ...(JSON.parse(text) as EnrolledProcess & { saidAtMs: number }),
  }));
  const gone = said.filter(({ saidAtMs }) => nowMs - saidAtMs > FORGOTTEN_AFTER_MS).map(({ id }) => id);
  if (gone.length > 0) await redis.hdel(keyOf(prefix), ...gone);
  return said
    .filter(({ saidAtMs }) => nowMs - saidAtMs <= FORGOTTEN_AFTER_MS)
    .map(({ id: _id, ...about }) => ({ ...about, isThere: nowMs - about.saidAtMs <= THERE_FOR_MS }));
}

async function timeOf(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Number(microseconds) / 1000;
}

/**
 * How far the clocks of this process are before that of Postgres, in milliseconds, the one that is farther off: the
 * clock of the machine, and that of the process, which does not follow when an operator sets the first.
 */
async function clockAhead(sql: Sql): Promise<number> {
  const before = performance.now();
  const [row] = await sql<{ ms: number }[]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
  const onTheWayMs = (performance.now() - before) / 2;
  const ahead = [realNowMs(), realNowExactMs()].map((ms) => ms - row!.ms - onTheWayMs);
  return Math.round(ahead.reduce((worst, each) => (Math.abs(each) > Math.abs(worst) ? each : worst)));
}

/** How many connections Postgres lets the role open at most in this database. */
export async function mostConnections(sql: Sql): Promise<number> {
  const [row] = await sql<{ most: number }[]>`
    select least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true), '0')::int,
      (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
      (select nullif(datconnlimit, -1) from pg_database where datname = current_database())) as most`;
  return row!.most;
}
