import type { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { BUDGET_MODES, BUDGET_PERIODS, BUDGET_SCOPES, type Budget, MEASURES } from '../../../engine/budgets/budget.ts';
import type { WindowState } from '../../../engine/budgets/window-state.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { BudgetId, BudgetWindowId, CustomerId } from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { column, hidden, orNull, plain, type RowOf } from '../../../platform/schema/columns.ts';

const Override = z.object({ values: z.array(z.string().nullable()), limit: z.string() });

/**
 * A budget as it is stored. Its limit is the column `most`, since `limit` is a word of SQL.
 * Rule: budgets.md#definition.
 */
export const budgets = {
  name: 'budget',
  table: 'budgets',
  columns: {
    id: column.idOf<BudgetId>(),
    code: column.text,
    name: column.text,
    scope: plain(z.enum(BUDGET_SCOPES)),
    customer_id: hidden(orNull(column.idOf<CustomerId>())),
    external_customer_id: orNull(column.text),
    external_subscription_id: orNull(column.text),
    codes: orNull(column.texts),
    feature_code: orNull(column.text),
    match: plain(z.record(z.string(), z.string())),
    group_by: column.texts,
    measure: plain(z.enum(MEASURES)),
    billable_metric_code: orNull(column.text),
    currency: orNull(column.text),
    most: hidden(column.decimal),
    overrides: plain(z.array(Override)),
    period: plain(z.enum(BUDGET_PERIODS)),
    timezone: column.text,
    mode: plain(z.enum(BUDGET_MODES)),
    alert_percents: plain(z.array(z.int())),
    on_outage: plain(z.enum(['closed', 'open'])),
    offline_allowance: hidden(column.decimal),
    unknown_price: plain(z.enum(['deny', 'allow'])),
    is_full: hidden(column.boolean),
    created_at: column.instant,
    updated_at: column.instant,
  },
};
export type BudgetRow = RowOf<typeof budgets>;

/** How many budgets an organization has, and how many limits of single values. */
export async function countDefinitions({ db, organizationId }: Scope): Promise<{ budgets: number; overrides: number }> {
  const [row] = await db<{ budgets: number; overrides: number }[]>`
    select count(*)::int as budgets, coalesce(sum(jsonb_array_length(overrides)), 0)::int as overrides
    from budgets where organization_id = ${organizationId} and deleted_at is null`;
  return row!;
}

/** The time zone of a subscription's customer; undefined when there is no such subscription. */
export async function findZoneOfSubscription({ db, organizationId }: Scope, externalId: string) {
  const [row] = await db<{ timezone: string }[]>`
    select coalesce(customer.timezone, entity.timezone) as timezone
    from subscriptions s
    join customers customer on customer.organization_id = s.organization_id and customer.id = s.customer_id
    join billing_entities entity on entity.organization_id = customer.organization_id
      and entity.id = customer.billing_entity_id
    where s.organization_id = ${organizationId} and s.external_id = ${externalId}::text
      and s.status in ('active', 'pending', 'terminated')
    order by s.status = 'active' desc, s.created_at desc, s.id desc limit 1`;
  return row?.timezone;
}

/** A window with what is not folded of its entries. */
export interface WindowRow {
  id: BudgetWindowId;
  budget_id: BudgetId;
  group_values: (string | null)[];
  starts_at: Temporal.Instant;
  ends_at: Temporal.Instant | null;
  topped_up: Decimal;
  spent: Decimal;
  held: Decimal;
  decision_no: number;
}

/** Entries count at once, and holds as long as their time is not over. Rule: budgets.md#storage. */
const figures = (db: Db, now: Temporal.Instant): Fragment => db`
  w.id, w.budget_id, w.group_values, w.starts_at, w.ends_at, w.topped_up, w.decision_no,
  w.spent + coalesce((
    select sum(entry.amount) from budget_entries entry
    where entry.organization_id = w.organization_id and entry.window_id = w.id and entry.folded_at is null
  ), 0) as spent,
  w.held - coalesce((
    select sum(part.held) from budget_hold_parts part
    where part.organization_id = w.organization_id and part.window_id = w.id and part.is_open
      and part.expires_at <= ${now}
  ), 0) as held`;

/** Windows by id, in no particular order: what a decision would see now, without a lock. */
export const listWindowFigures = ({ db, organizationId }: Scope, ids: readonly string[], now: Temporal.Instant) =>
  db<WindowRow[]>`
    select ${figures(db, now)} from budget_windows w
    where w.organization_id = ${organizationId} and w.id = any (${ids}::uuid[])`;

export interface WindowFilters {
  budget: Pick<Budget, 'id' | 'mode' | 'limit' | 'overrides'>;
  states: readonly WindowState[] | undefined;
  /** Values by position in `group_by`. */
  group: readonly { place: number; value: string | null }[];
  at: Temporal.Instant | undefined;
}

/** Windows of a budget, newest first. */
export async function listWindows(
  { db, organizationId }: Scope,
  filters: WindowFilters,
  { now, page }: { now: Temporal.Instant; page: Page },
): Promise<{ rows: WindowRow[]; total: Total }> {
  const { limit, offset } = limitOf(page);
  const wanted = db`
    budget_windows w
    cross join lateral (
      select coalesce((
        select (o ->> 'limit')::numeric from jsonb_array_elements(${json(overridesOf(filters.budget))}::jsonb) o
        where o -> 'values' = w.group_values limit 1
      ), ${filters.budget.limit.toFixed()}::numeric) + w.topped_up as most
    ) as limited
    where w.organization_id = ${organizationId} and w.budget_id = ${filters.budget.id}
      ${filters.at === undefined ? db`` : db`and w.starts_at <= ${filters.at} and (w.ends_at is null or w.ends_at > ${filters.at})`}
      ${filters.group.reduce((all, { place, value }) => db`${all} and w.group_values ->> ${place}::int is not distinct from ${value}::text`, db``)}
      ${filters.states === undefined ? db`` : db`and ${stateSql(db, filters.budget, now)} = any (${filters.states}::text[])`}`;
  const [rows, total] = await Promise.all([
    db<WindowRow[]>`
      select ${figures(db, now)} from ${wanted} order by w.starts_at desc, w.id desc limit ${limit} offset ${offset}`,
    countRecords(db, wanted),
  ]);
  return { rows, total };
}

const overridesOf = ({ overrides }: WindowFilters['budget']) =>
  overrides.map(({ values, limit }) => ({ values, limit: limit.toFixed() }));

const stateSql = (db: Db, { mode }: WindowFilters['budget'], now: Temporal.Instant): Fragment => db`
  case when w.ends_at <= ${now} then 'closed'
    when w.spent + coalesce((
      select sum(entry.amount) from budget_entries entry
      where entry.organization_id = w.organization_id and entry.window_id = w.id and entry.folded_at is null
    ), 0) < limited.most then 'open'
    else ${mode === 'hard' ? 'blocked' : 'over'} end`;

export interface EntryRow {
  id: string;
  window_id: BudgetWindowId;
  amount: Decimal;
  events: number;
  source: 'settlement' | 'usage' | 'correction' | 'provisional' | 'reset' | 'opening';
  hold_id: string | null;
  event_transaction_id: string | null;
  created_at: Temporal.Instant;
}

/** The ledger of a budget, newest first. Rule: budgets.md#life-of-a-window. */
export async function listEntries(
  { db, organizationId }: Scope,
  budgetId: BudgetId,
  { from, to, page }: { from: Temporal.Instant | undefined; to: Temporal.Instant | undefined; page: Page },
): Promise<{ rows: EntryRow[]; total: Total }> {
  const { limit, offset } = limitOf(page);
  const wanted = db`
    budget_entries entry
    where entry.organization_id = ${organizationId} and entry.window_id in (
        select id from budget_windows where organization_id = ${organizationId} and budget_id = ${budgetId})
      ${from === undefined ? db`` : db`and entry.created_at >= ${from}`}
      ${to === undefined ? db`` : db`and entry.created_at < ${to}`}`;
  const [rows, total] = await Promise.all([
    db<EntryRow[]>`
      select page.id, page.window_id, page.amount, page.events, page.source, page.created_at, hold.id as hold_id,
        hold.event_transaction_id
      from (
        select entry.* from ${wanted} order by entry.created_at desc, entry.id desc limit ${limit} offset ${offset}
      ) page
      left join budget_holds hold on hold.organization_id = page.organization_id and page.source in ('settlement', 'provisional')
        and hold.id = page.ref::uuid
      order by page.created_at desc, page.id desc`,
    countRecords(db, wanted),
  ]);
  return { rows, total };
}
