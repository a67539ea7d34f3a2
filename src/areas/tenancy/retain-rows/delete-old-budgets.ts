import type { Sql } from '../../../platform/db/connect.ts';
import { keeps, type Selection } from './delete-old-rows.ts';

// One opening entry of a window stands for those that are dropped, so that its ledger says what it has spent at every
// moment; a window that has ended is dropped with it. Rule: retention.md#budgets.

/** Closed holds, with their parts. */
export const deleteBudgetHolds = (sql: Sql, selection: Selection, limit: number) => sql`
  delete from budget_holds where id = any (array(
    select hold.id from budget_holds hold
    where hold.closed_at < ${selection.before} and ${keeps(sql, sql`hold.organization_id`, selection)}
      and not exists (
        select from budget_hold_parts part
        where part.organization_id = hold.organization_id and part.hold_id = hold.id and part.is_open)
    limit ${limit}))`;

/** Windows that have ended and of whose ledger nothing is younger, with it. */
export const deleteEndedWindows = (sql: Sql, selection: Selection, limit: number) => sql`
  with ended as materialized (
    select w.id, w.organization_id from budget_windows w
    where w.ends_at < ${selection.before} and ${keeps(sql, sql`w.organization_id`, selection)}
      and not exists (
        select from budget_entries entry
        where entry.organization_id = w.organization_id and entry.window_id = w.id
          and (entry.folded_at is null or entry.created_at >= ${selection.before}))
      and not exists (
        select from budget_hold_parts part where part.organization_id = w.organization_id and part.window_id = w.id)
    limit ${limit}
  ), entry as (
    delete from budget_entries entry using ended
    where entry.organization_id = ended.organization_id and entry.window_id = ended.id
  )
  delete from budget_windows w using ended where w.organization_id = ended.organization_id and w.id = ended.id`;

/** Puts one opening entry in the place of the folded entries of a window that are older. */
export const openBudgetWindows = (sql: Sql, selection: Selection, limit: number) => sql`
  with old as materialized (
    select entry.id, entry.organization_id, entry.window_id
    from budget_entries entry
    where entry.created_at < ${selection.before} and entry.folded_at is not null and entry.source <> 'opening'
      and ${keeps(sql, sql`entry.organization_id`, selection)}
    limit ${limit}
  ), gone as (
    delete from budget_entries entry using (select distinct organization_id, window_id from old) touched
    where entry.organization_id = touched.organization_id and entry.window_id = touched.window_id
      and (entry.id in (select id from old) or (entry.source = 'opening' and entry.created_at < ${selection.before}))
    returning entry.organization_id, entry.window_id, entry.amount, entry.events, entry.created_at, entry.folded_at,
      entry.id
  ), opened as (
    insert into budget_entries (id, organization_id, window_id, amount, events, source, created_at, folded_at)
    select (array_agg(id order by created_at desc, id desc))[1], organization_id, window_id, sum(amount), sum(events),
      'opening', max(created_at), max(folded_at)
    from gone group by organization_id, window_id
  )
  select id from old`;
