import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Counts } from '../processes/count-writes.ts';
import type { Environment } from './environment.ts';
import type { ServiceProcess } from './processes.ts';

/** What one unit of work costs: an event, a delivery, an invoice. */
export interface Cost {
  units: number;
  /** Microseconds of processor time of all threads, by process; without those that the bench did not start. */
  cpuUs: Record<string, number>;
  /** By the processes under test, not by the harness. */
  statements: number;
  roundTrips: number;
  /** Also those inside scripts. */
  redisCommands: number;
  /** Of the records alone: how many page images stand beside them depends on the checkpoints. */
  walBytes: number;
  /** Whole pages in the WAL: each page that is changed first after a checkpoint. No ceiling holds them. */
  pageImageBytes: number;
  /** Pages of 8 KiB that Postgres looked at; on a server of our own without autovacuum, which is stopped meanwhile. */
  bufferHits: number;
  /** Redis commands by name. */
  redisByCommand: Record<string, number>;
}

export const COUNTED = ['statements', 'roundTrips', 'redisCommands', 'walBytes', 'bufferHits'] as const;
export type Counted = (typeof COUNTED)[number];

/** Adds up what the work of several rounds costs. */
export interface Meter {
  /** Measures a round. The work returns how many units it was, and what the caller wants of it. */
  around<Result>(work: () => Promise<{ units: number; result: Result }>): Promise<Result>;
  /** Costs of a unit, over all rounds so far. */
  perUnit(): Cost;
}

/** Postgres writes its statistics of pages a second after the work at the latest. */
const STATISTICS_AFTER_MS = 1_200;
/** Of a tick of the kernel's clock, in which it counts processor time. */
const TICK_US = 10_000;

interface Reading {
  cpuUs: Record<string, number>;
  pageImageBytes: number;
  counts: Record<Counted, number>;
  redisByCommand: Record<string, number>;
}

/** @param processes those under test, by the name under which they are shown */
export function openMeter(environment: Environment, processes: Record<string, ServiceProcess>): Meter {
  const sums: Reading & { units: number } = {
    units: 0,
    cpuUs: {},
    pageImageBytes: 0,
    counts: noCounts(),
    redisByCommand: {},
  };
  return {
    async around(work) {
      await environment.autovacuum.stop();
      const from = await endOfLog(environment);
      const before = await read(environment, processes);
      const { units, result } = await work();
      await pause(STATISTICS_AFTER_MS);
      const after = await read(environment, processes);
      const images = await pageImagesSince(environment, from);
      await environment.autovacuum.start();
      sums.units += units;
      addDifferences(sums.cpuUs, before.cpuUs, after.cpuUs);
      addDifferences(sums.redisByCommand, before.redisByCommand, after.redisByCommand);
      for (const name of COUNTED) sums.counts[name] += after.counts[name] - before.counts[name];
      sums.counts.walBytes -= images;
      sums.pageImageBytes += images;
      return result;
    },
    perUnit() {
      const each = (sum: number) => sum / sums.units;
      const allOf = (all: Record<string, number>) =>
        Object.fromEntries(Object.entries(all).map(([name, sum]) => [name, each(sum)]));
      return {
        units: sums.units,
        cpuUs: allOf(sums.cpuUs),
        redisByCommand: allOf(sums.redisByCommand),
        pageImageBytes: each(sums.pageImageBytes),
        ...(Object.fromEntries(COUNTED.map((name) => [name, each(sums.counts[name])])) as Record<Counted, number>),
      };
    },
  };
}

function addDifferences(sums: Record<string, number>, before: Record<string, number>, after: Record<string, number>) {
  for (const [name, value] of Object.entries(after)) sums[name] = (sums[name] ?? 0) + value - (before[name] ?? 0);
}

const noCounts = (): Record<Counted, number> => ({
  statements: 0,
  roundTrips: 0,
  redisCommands: 0,
  walBytes: 0,
  bufferHits: 0,
});

async function read(
  environment: Environment,
  processes: Record<string, ServiceProcess>,
): Promise<Omit<Reading, 'pageImageBytes'>> {
  const own = Object.entries(processes);
  const [written, times, postgres, redis, pages, redisByCommand] = await Promise.all([
    Promise.all(own.map(([, process]) => process.counts())),
    Promise.all(own.map(async ([name, { pid }]) => [name, await cpuOf(pid)] as const)),
    environment.pids.postgres === undefined ? undefined : cpuOfFamily(environment.pids.postgres),
    environment.pids.redis === undefined ? undefined : cpuOf(environment.pids.redis),
    pagesAndLog(environment),
    commandsOf(environment),
  ]);
  const sum = (pick: (counts: Counts) => number) => written.reduce((total, counts) => total + pick(counts), 0);
  return {
    cpuUs: {
      ...Object.fromEntries(times),
      ...(postgres === undefined ? {} : { Postgres: postgres }),
      ...(redis === undefined ? {} : { Redis: redis }),
    },
    counts: {
      statements: sum((counts) => counts.statements),
      roundTrips: sum((counts) => counts.roundTrips),
      redisCommands: Object.values(redisByCommand).reduce((total, calls) => total + calls, 0),
      ...pages,
    },
    redisByCommand,
  };
}

async function pagesAndLog({ sql }: Environment): Promise<{ walBytes: number; bufferHits: number }> {
  const [row] = await sql<{ wal: number; hits: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as wal, blks_hit + blks_read as hits
    from pg_stat_database where datname = current_database()`;
  return { walBytes: row!.wal, bufferHits: row!.hits };
}

async function endOfLog({ sql }: Environment): Promise<string> {
  const [row] = await sql<{ lsn: string }[]>`select pg_current_wal_flush_lsn()::text as lsn`;
  return row!.lsn;
}

/** 0 where the server does not have the extension that reads the log, or does not allow it: all is records then. */
async function pageImagesSince({ sql, canReadLog }: Environment, from: string): Promise<number> {
  if (!canReadLog) return 0;
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(fpi_size), 0)::bigint as bytes
    from bench_log.pg_get_wal_stats(${from}::pg_lsn, pg_current_wal_flush_lsn())`;
  return row!.bytes;
}

async function commandsOf({ redis }: Environment): Promise<Record<string, number>> {
  const statistics = await redis.info('commandstats');
  return Object.fromEntries(
    [...statistics.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)].map(([, name, calls]) => [name!, Number(calls)]),
  );
}

/** Of all threads of a process. Linux only: elsewhere there is no /proc, and the times are missing. */
async function cpuOf(pid: number): Promise<number> {
  const { own } = await timesOf(String(pid));
  return own;
}

/** Of a server whose work is done by its children, in microseconds: theirs, also of those that have ended. */
export async function cpuOfFamily(pid: number): Promise<number> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const times = await Promise.all(all.map((each) => timesOf(each).catch(() => undefined)));
  return times.reduce((sum, each, index) => {
    if (each === undefined) return sum;
    if (all[index] === String(pid)) return sum + each.own + each.ended;
    return each.parent === pid ? sum + each.own : sum;
  }, 0);
}

async function timesOf(pid: string): Promise<{ parent: number; own: number; ended: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name of the program stands in brackets and may hold blanks; the state, the third field, comes after it.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ticks = (first: number) => (fields[first - 3]! + fields[first - 2]!) * TICK_US;
  return { parent: fields[4 - 3]!, own: ticks(14), ended: ticks(16) };
}
