import type { Temporal } from 'temporal-polyfill';
import type { Context } from './context.ts';
import type { Sql } from './db/connect.ts';

/** A piece of periodic work: one record, or one group of records, of one organization. */
export interface DueItem {
  organization_id: string;
  sandbox: boolean;
  /** JSON of ids: travels in a job. */
  item: unknown;
  /** Names the record and the due day, so that a second nudge is no second job; no `:`. */
  key: string;
}

/** Whose rows a selection looks at: all organizations on real time (those with a test clock left out), or one organization. */
export type Scope = { organizationId: string } | 'real-time';

/**
 * A job of the table of periodic jobs (platform L, src/schedule.ts). A tick selects and fans out; the fanned-out job does
 * the work, in a transaction of its own, and is safe to run twice. A test clock runs the same two functions at its own
 * instants, and asks `nextDueAt` where to go next.
 */
export interface PeriodicJob {
  name: string;
  /** Rows due at or before `at` ("never due exactly now"), at most `limit`; called again until it finds nothing new. */
  select(sql: Sql, at: Temporal.Instant, scope: Scope, limit: number): Promise<DueItem[]>;
  work(ctx: Context, item: unknown, at: Temporal.Instant): Promise<void>;
  /** Lower bound of the next instant, after `after`, at which a row of the organization starts to qualify: may be too early, never too late (beyond 1.2). Absent on jobs of clock R. */
  nextDueAt?(sql: Sql, organizationId: string, after: Temporal.Instant): Promise<Temporal.Instant | null>;
}
