import type { Temporal } from 'temporal-polyfill';
import type { z } from 'zod';
import type { Context } from './context.ts';
import type { Db, Sql } from './db/connect.ts';
import type { Runtime } from './process/runtime.ts';

/** A piece of periodic work: one record, or one group of records, of one organization. */
export interface DueItem<Item = unknown> {
  organization_id: string;
  sandbox: boolean;
  /** JSON of ids: travels in a job. */
  item: Item;
  /** Names the record and the due day, so that a second nudge is no second job; no `:`. */
  key: string;
  /** The record that a failed advance of a test clock names. */
  resource?: { type: string; id: string };
}

/**
 * Whose rows a selection looks at: all organizations on real time (those with a test clock left out), or one
 * organization.
 */
export type Scope = { organizationId: string } | 'real-time';

/**
 * A job of the table of periodic jobs (periodic-jobs.md, src/schedule.ts). A tick selects and fans out; the fanned-out
 * job does the work, in a transaction of its own, and is safe to run twice. A test clock runs the same two functions at
 * its own instants, and asks `nextDueAt` where to go next.
 */
export interface PeriodicJob<Item = unknown> {
  name: string;
  /** What travels from `select` to `work`: read with this where it was taken from a queue. */
  item: z.ZodType<Item>;
  /**
   * Rows due at or before `at` ("never due exactly now"), in a stable order, at most `limit`. A tick asks again with a
   * greater limit while pages are full; a test clock asks again after the page was worked, until nothing new is found.
   */
  select(sql: Sql, at: Temporal.Instant, scope: Scope, limit: number): Promise<DueItem<Item>[]>;
  /** Does one item. `at` is the tick; `ctx.now()` is real time, or the same instant under a test clock. */
  work(ctx: Context, item: Item, at: Temporal.Instant): Promise<void>;
  /**
   * Lower bound of the instant at which some row of the organization qualifies, looking from `after` on: may be too
   * early (an empty visit), never too late; at or before `after` when one qualifies already; null when nothing can
   * become due by the passing of time (test-clocks.md#what-an-advance-promises).
   */
  nextDueAt(db: Db, organizationId: string, after: Temporal.Instant): Promise<Temporal.Instant | null>;
}

/** A periodic job whose schema types what its two functions hand on. */
export const periodicJob = <Item>(job: PeriodicJob<Item>): PeriodicJob<Item> => job;

export type SweepDeps = Pick<Runtime, 'sql' | 'redis' | 'producer' | 'config' | 'log' | 'reactions'>;

/** A job of clock R that looks at all organizations at once and works in place: cleaning, nudging, partitions. */
export interface SweepJob {
  name: string;
  sweep(deps: SweepDeps, at: Temporal.Instant): Promise<void>;
}
