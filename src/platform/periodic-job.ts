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

/**
 * A place in the order of a selection: the organization, then the values that order its rows. The organization alone is
 * the place behind all of its rows.
 */
export type Place = readonly [organizationId: OrganizationId, ...values: string[]];

/** A part of a selection: at most `limit` rows behind a place, or from the beginning. */
export interface Page {
  limit: number;
  after?: Place | undefined;
}

/** A page of due items; it may have fewer items than rows. */
export interface Selected<Item = unknown> {
  items: DueItem<Item>[];
  /** Where the next page begins; null: nothing is left. */
  next: Place | null;
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
   * A page of the rows due at or before `at` ("never due exactly now"), in the order of organizations and of the job's
   * own keys (`db/keyset.ts`). Rows that are due with the same keys all the time stand in exactly one page.
   */
  select(sql: Sql, at: Temporal.Instant, reach: Reach, page: Page): Promise<Selected<Item>>;
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

/** Whoever sweeps without a lease, as tests do, gives none. */
export type Hold = () => Promise<void>;

/** A job of clock R that treats all organizations together in place: cleaning, nudging, partitions. */
export interface SweepJob {
  name: string;
  /**
   * hold  proves that the tick still holds the lease of the job, before each page; throws LeaseLost
   */
  sweep(deps: SweepDeps, at: Temporal.Instant, hold?: Hold): Promise<void>;
}
