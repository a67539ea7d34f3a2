import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import { isUuid } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { ShownEvent } from '../events/view.ts';
import type { UnmatchedReason } from '../match-events/match-event.ts';
import type { UnmatchedListQuery } from './schema.ts';

export interface UnmatchedRow extends ShownEvent {
  reason: UnmatchedReason;
  status: 'open' | 'healed' | 'ignored';
  first_seen_at: Temporal.Instant;
  healed_at: Temporal.Instant | null;
}

const matches = ({ db, organizationId }: Scope, filters: Omit<UnmatchedListQuery, keyof Page>) => db`
  from unmatched_events u
  join events e on e.id = u.event_id and e.deleted_at is null
  where u.organization_id = ${organizationId} and u.status = any (${filters.statuses ?? ['open']})
    ${filters.reasons === undefined ? db`` : db`and u.reason = any (${filters.reasons})`}
    ${filters.code === undefined ? db`` : db`and u.code = ${filters.code}`}
    ${filters.external_subscription_id === undefined ? db`` : db`and u.external_subscription_id = ${filters.external_subscription_id}`}
    ${filters.from === undefined ? db`` : db`and u.event_timestamp >= ${filters.from}`}
    ${filters.to === undefined ? db`` : db`and u.event_timestamp < ${filters.to}`}`;

/** A page of unmatched events, newest first. Rule: event-verdicts.md#unmatched-events. */
export const listUnmatched = (
  { db, organizationId }: Scope,
  filters: Omit<UnmatchedListQuery, keyof Page>,
  page: Page,
) => db<UnmatchedRow[]>`
  select e.id, e.transaction_id, e.external_subscription_id, e.code, ${isoText(db, db`e.timestamp`)} as timestamp,
    e.properties::text as properties, trim_scale(e.precise_total_amount_cents)::text as precise_total_amount_cents,
    ${isoText(db, db`e.created_at`)} as created_at, u.reason, u.status, u.first_seen_at, u.healed_at
  ${matches({ db, organizationId }, filters)}
  order by u.first_seen_at desc, u.event_id desc
  limit ${limitOf(page).limit} offset ${limitOf(page).offset}`;

export async function countUnmatched(scope: Scope, filters: Omit<UnmatchedListQuery, keyof Page>): Promise<number> {
  const [row] = await scope.db<{ count: number }[]>`select count(*) as count ${matches(scope, filters)}`;
  return row!.count;
}

export interface UnmatchedSum {
  reason: UnmatchedReason;
  code: string;
  count: number;
  first_seen_at: Temporal.Instant;
  last_seen_at: Temporal.Instant;
  sample_transaction_ids: string[];
}

const SAMPLES = 5;
/** How many pairs of reason and code a summary lists at most; clients choose the codes. */
const MOST_SUMS = 1000;

/** Open events by reason and code, greatest count first, each with its newest transaction ids. */
export const sumUnmatched = ({ db, organizationId }: Scope) => db<UnmatchedSum[]>`
  select total.reason, total.code, total.count, total.first_seen_at, total.last_seen_at,
    array(
      select e.transaction_id
      from unmatched_events u
      join events e on e.id = u.event_id and e.deleted_at is null
      where u.organization_id = total.organization_id and u.status = 'open' and u.reason = total.reason
        and u.code = total.code
      order by u.event_id desc
      limit ${SAMPLES}
    ) as sample_transaction_ids
  from unmatched_totals total
  where total.organization_id = ${organizationId} and total.count > 0
  order by total.count desc, total.reason, total.code
  limit ${MOST_SUMS}`;

/** Open events of all organizations, for the metrics of the deployment. */
export const sumUnmatchedByReason = (db: Db) => db<{ reason: UnmatchedReason; count: number }[]>`
  select reason, sum(count)::bigint as count from unmatched_totals where count > 0 group by reason`;

export interface RunRow {
  id: string;
  status: 'pending' | 'running' | 'succeeded' | 'failed' | 'canceled';
  done: number;
  total: number | null;
  result: object | null;
  error: object | null;
  created_at: Temporal.Instant;
  started_at: Temporal.Instant | null;
  finished_at: Temporal.Instant | null;
}

export const insertRun = (
  { db, organizationId }: Scope,
  run: { id: string; kind: string; input: object; created_at: Temporal.Instant },
) => db`
  insert into runs (id, organization_id, kind, input, created_at)
  values (${run.id}, ${organizationId}, ${run.kind}, ${json(run.input)}, ${run.created_at})`;

/** A run of one of these kinds. @throws Refusal 404 run */
export async function findRun({ db, organizationId }: Scope, kinds: readonly string[], id: string): Promise<RunRow> {
  const [row] = isUuid(id)
    ? await db<RunRow[]>`
        select id, status, done, total, result, error, created_at, started_at, finished_at from runs
        where organization_id = ${organizationId} and id = ${id} and kind = any (${kinds})`
    : [];
  if (!row) throw refuse.notFound('run');
  return row;
}

export async function getRun({ db, organizationId }: Scope, id: string): Promise<RunRow> {
  const [row] = await db<RunRow[]>`
    select id, status, done, total, result, error, created_at, started_at, finished_at from runs
    where organization_id = ${organizationId} and id = ${id}`;
  return row!;
}
