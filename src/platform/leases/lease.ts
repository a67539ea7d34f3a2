import { randomUUID } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../db/connect.ts';
import { json } from '../db/values.ts';

/** How long a lease lives without its holder, and how often a living holder renews it. */
interface LeaseTimes {
  lifeMs: number;
  renewEveryMs: number;
}

/** A killed or frozen holder is replaced within a minute: four renewals may be lost, or a pause of 35 s is survived. */
export const LEASE_TIMES: LeaseTimes = { lifeMs: 45_000, renewEveryMs: 10_000 };

/** The work belongs to another process: this one was believed dead. */
export class LeaseLost extends Error {
  constructor(job: string) {
    super(`the lease of ${job} was lost`);
    this.name = 'LeaseLost';
  }
}

/** The right to work on a job, for one process at a time. */
export interface Lease {
  readonly holder: string;
  /** The newest tick that was to be worked under this lease, and where a former holder left it. */
  readonly tickAt: Temporal.Instant | null;
  readonly place: unknown;
  /** Proves that the lease is still held, and prolongs it: before each page of the work. @throws LeaseLost */
  hold(): Promise<void>;
  /** The same, and stores how far the work is. @throws LeaseLost */
  holdAt(place: unknown): Promise<void>;
  /** Ends the renewals; the row is left to whoever ends the work in it. */
  stop(): void;
  /** Leaves the work to whoever takes the lease next; work that has begun is looked for when its time is over. */
  release(): Promise<void>;
}

interface LeaseRow {
  tick_at: Temporal.Instant | null;
  place: unknown;
}

/**
 * Takes the lease of a job that nobody holds, or whose holder has not renewed it in time, by one conditional statement
 * on the clock of Postgres: no lock of a session is used, so that it holds behind any pooler. The key contains the
 * schema. A process that was frozen finds at its next page that it lost the lease.
 *
 * tickAt  the tick to be worked, if the job has ticks: the lease keeps the newest one
 *
 * @returns undefined while another process holds it
 * Rule: periodic-jobs.md#leases.
 */
export async function takeLease(
  sql: Sql,
  job: string,
  { tickAt = null, times = LEASE_TIMES }: { tickAt?: Temporal.Instant | null; times?: LeaseTimes } = {},
): Promise<Lease | undefined> {
  const holder = randomUUID();
  const [row] = await sql<LeaseRow[]>`
    insert into periodic_leases as lease (schema_key, job, holder, until, tick_at)
    values (current_schema(), ${job}, ${holder}, ${untilOf(sql, times)}, ${tickAt})
    on conflict (schema_key, job) do update
      set holder = excluded.holder, until = ${untilOf(sql, times)}, tick_at = greatest(lease.tick_at, excluded.tick_at)
      where lease.holder is null or lease.until < clock_timestamp()
    returning tick_at, place`;
  return row && openLease(sql, job, { holder, row, times });
}

function openLease(
  sql: Sql,
  job: string,
  { holder, row, times }: { holder: string; row: LeaseRow; times: LeaseTimes },
): Lease {
  const renew = async (change = sql``): Promise<void> => {
    const { count } = await sql`
      update periodic_leases set until = ${untilOf(sql, times)} ${change}
      where schema_key = current_schema() and job = ${job} and holder = ${holder}`;
    if (count === 0) throw new LeaseLost(job);
  };
  // While Postgres is away the lease runs out; the next page says so.
  const timer = setInterval(() => void renew().catch(() => {}), times.renewEveryMs);
  return {
    holder,
    tickAt: row.tick_at,
    place: row.place,
    hold: () => renew(),
    holdAt: (place) => renew(sql`, place = ${json(place as object)}`),
    stop: () => clearInterval(timer),
    async release() {
      clearInterval(timer);
      await sql`
        update periodic_leases set holder = null, until = ${untilOf(sql, times)}
        where schema_key = current_schema() and job = ${job} and holder = ${holder}`;
    },
  };
}

const untilOf = (sql: Sql, { lifeMs }: LeaseTimes) =>
  sql`clock_timestamp() + ${lifeMs}::double precision * interval '1 millisecond'`;
