import type { Temporal } from 'temporal-polyfill';
import type { z } from 'zod';
import type { Context } from './context.ts';
import type { Sql } from './db/connect.ts';
import type { Scope } from './db/scope.ts';
import type { OrganizationId } from './ids.ts';
import type { Runtime } from './process/runtime.ts';

/** An item of periodic work: one record, or one group of records, of one organization. */
export interface DueItem<Item = unknown> {
  organization_id: OrganizationId;
  sandbox: boolean;
  /** JSON of ids, sent in a job. */
  item: Item;
  /** Key of the record and the due day, so that a second nudge makes no second job; without `:`. */
  key: string;
  /** The record that a failed advance of a test clock reports. */
  resource?: { type: string; id: string };
}

/** The scope of a selection: all organizations in real time (without those with a test clock), or one organization. */
export type Reach = { organizationId: OrganizationId } | 'real-time';

/**
 * A job of the table of periodic jobs (periodic-jobs.md, src/schedule.ts). A tick selects and fans out; the fanned-out
 * job does the work in its own transaction and is safe to run twice. A test clock runs the same two functions at its
 * own instants, and gets its next instant from `nextDueAt`.
 */
export interface PeriodicJob<Item = unknown> {
  name: string;
  /** Schema of the items passed from `select` to `work` through the queue. */
  item: z.ZodType<Item>;
  /**
   * Rows due at or before `at` ("never due exactly now"), in a stable order, at most `limit`. A tick selects again with
   * a greater limit while pages are full; a test clock selects again after working a page, until nothing new is found.
   */
  select(sql: Sql, at: Temporal.Instant, reach: Reach, limit: number): Promise<DueItem<Item>[]>;
  /** Does one item. `at` is the tick; `ctx.now()` is real time, or the same instant under a test clock. */
  work(ctx: Context, item: Item, at: Temporal.Instant): Promise<void>;
  /**
   * Lower bound of the instant at which some row of the organization qualifies, from `after` on: it may be too early
   * (an empty visit), never too late; at or before `after` if one qualifies already; null if nothing can become due as
   * time passes (test-clocks.md#what-an-advance-promises).
   */
  nextDueAt(scope: Scope, after: Temporal.Instant): Promise<Temporal.Instant | null>;
}

/** A periodic job whose schema types the items between its two functions. */
export const periodicJob = <Item>(job: PeriodicJob<Item>): PeriodicJob<Item> => job;

export type SweepDeps = Pick<Runtime, 'sql' | 'redis' | 'producer' | 'config' | 'log' | 'reactions'>;

/** A job of clock R that treats all organizations together in place: cleaning, nudging, partitions. */
export interface SweepJob {
  name: string;
  sweep(deps: SweepDeps, at: Temporal.Instant): Promise<void>;
}
