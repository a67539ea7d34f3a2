import { Temporal } from 'temporal-polyfill';

/**
 * The present of the machine, at microseconds as Postgres keeps it. Business code gets its time from `Context.now()`.
 */
export const realNow = (): Temporal.Instant =>
  Temporal.Instant.fromEpochNanoseconds(
    BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n,
  );

/** Milliseconds since 1970 of the machine: for leases, timeouts and rates, never for business time. */
export const realNowMs = (): number => Date.now();

/** The same with microseconds as its fraction: time of reception of events, where an Instant would cost too much. */
export const realNowExactMs = (): number => performance.timeOrigin + performance.now();
