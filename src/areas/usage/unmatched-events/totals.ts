import type { Db } from '../../../platform/db/connect.ts';

/**
 * How many open rows there are of one (organization, reason, code); beyond them only the counter grows
 * (event-verdicts.md#unmatched-events).
 */
export const MOST_ROWS = 100_000;
/**
 * Approximate limit of totals of one organization: far more codes than any has metrics, and few enough to be counted
 * within milliseconds. Clients choose the codes, so further ones share one total for each reason.
 */
export const MOST_TOTALS = 10_000;
/** Code of the shared total, which no event has. */
export const FURTHER_CODES = '';

/** Code of the total in which an unmatched event `u` is counted. */
export const totalCode = (db: Db) => db`case when u.shares_total then ${FURTHER_CODES} else u.code end`;

/** Number of totals of an organization, counted up to `MOST_TOTALS`. */
const totalsOf = (db: Db, organizationId: ReturnType<Db>) => db`(
    select count(*) from (
      select from unmatched_totals used
        where used.organization_id = ${organizationId} limit ${MOST_TOTALS}) as counted)`;

const hasTotal = (db: Db, row: ReturnType<Db>) => db`exists (
    select from unmatched_totals known
    where known.organization_id = ${row}.organization_id and known.reason = ${row}.reason
      and known.code = ${row}.code)`;

/**
 * The rows of `pair` (organization, reason, code: each once), each with `shares_total`: whether it gets none of its
 * own.
 */
export const placesOf = (db: Db) => db`
  select known.*, not is_known and rank > ${MOST_TOTALS} - used.count as shares_total
  from (
    select pair.*, ${hasTotal(db, db`pair`)} as is_known, row_number() over (
      partition by organization_id, ${hasTotal(db, db`pair`)} order by reason, code) as rank
    from pair
  ) known
  join (
    select organization_id, ${totalsOf(db, db`organization.organization_id`)} as count
    from (select distinct organization_id from pair) organization
  ) used using (organization_id)`;
