import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { entriesOf, nilUuid, type Report } from './entries.ts';

/** How many sources a read may count itself; with more it waits for the pool. */
export const MOST_UNCOUNTED = 2000;

export interface Days {
  from: Temporal.PlainDate;
  /** Inclusive. */
  to: Temporal.PlainDate;
}

/** Whose sums are read: all customers together, or subscriptions of some or all customers. */
export type Grain = 'whole' | 'each' | { customerIds: readonly CustomerId[] };

/**
 * CTEs that end in `counted`: the sums of a report over days (columns of analytics_totals), brought up to date by what
 * changed since the pool last counted. There may be several rows of one key, which the caller sums. The rows read
 * depend on the days and on changes, not on how much was billed.
 */
export const counted = ({ db, organizationId }: Scope, report: Report, days: Days, grain: Grain): Fragment => db`
  source as materialized (
    select distinct source_type, source_id from (
      select source_type, source_id from analytics_marks
      where organization_id = ${organizationId}
      order by position
      limit ${MOST_UNCOUNTED}) mark
  ), counted as (
    select total.day, total.billing_entity_id, total.customer_id, total.subscription_id, total.currency, total.key,
      total.code,
      total.amount, total.units, total.entries_count
    from analytics_totals total
    where total.organization_id = ${organizationId} and total.report = ${report}
      and total.day between ${days.from} and ${days.to} and ${ofGrain(db, grain, db`total`)}
    union all
    select entry.day, entry.billing_entity_id, entry.customer_id, entry.subscription_id, entry.currency, entry.key,
      entry.code,
      -entry.amount, -entry.units, -1
    from source
    join analytics_entries entry
      on entry.organization_id = ${organizationId} and entry.source_id = source.source_id and entry.report = ${report}
    where entry.day between ${days.from} and ${days.to} ${ofCustomer(db, grain, db`entry`)}
    union all
    select entry.day, entry.billing_entity_id, entry.customer_id, entry.subscription_id, entry.currency, entry.key,
      entry.code,
      entry.amount, entry.units, 1
    from (${entriesOf({ db, organizationId }, report)}) entry
    where entry.day between ${days.from} and ${days.to} ${ofCustomer(db, grain, db`entry`)}
  )`;

const ofGrain = (db: Db, grain: Grain, row: Fragment): Fragment =>
  grain === 'whole'
    ? db`${row}.customer_id = ${nilUuid(db)}`
    : grain === 'each'
      ? db`${row}.customer_id <> ${nilUuid(db)}`
      : db`${row}.customer_id = any (${grain.customerIds})`;

const ofCustomer = (db: Db, grain: Grain, row: Fragment): Fragment =>
  typeof grain === 'object' ? db`and ${row}.customer_id = any (${grain.customerIds})` : db``;
