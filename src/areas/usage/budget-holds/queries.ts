import type { Temporal } from 'temporal-polyfill';
import type { Measure } from '../../../engine/budgets/budget.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BudgetHoldId, BudgetId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import type { HoldStatus } from './schema.ts';

/** A window in which a hold has a part; decimals and instants are texts. */
interface HeldWindow {
  id: string;
  budget_id: BudgetId;
  group_values: (string | null)[];
  starts_at: string;
  ends_at: string | null;
  held: string;
  settled: string | null;
  budget: { code: string; measure: Measure; currency: string | null; group_by: string[] };
}

export interface HoldRow {
  id: BudgetHoldId;
  hold_key: string;
  /** By the clock: an open one whose time is over is expired. */
  status: HoldStatus;
  external_subscription_id: ExternalSubscriptionId;
  event_transaction_id: string | null;
  is_late: boolean;
  /** Hex; null until it is settled. */
  settlement_digest: string | null;
  expires_at: Temporal.Instant;
  created_at: Temporal.Instant;
  closed_at: Temporal.Instant | null;
  windows: HeldWindow[];
}

const statusAt = (db: Db, now: Temporal.Instant): Fragment => db`
  case when hold.status = 'open' and hold.expires_at <= ${now} then 'expired' else hold.status end`;

const columns = (db: Db, now: Temporal.Instant): Fragment => db`
  hold.id, hold.hold_key, ${statusAt(db, now)} as status, hold.external_subscription_id, hold.event_transaction_id,
  hold.is_late, encode(hold.settlement_digest, 'hex') as settlement_digest, hold.expires_at, hold.created_at, hold.closed_at,
  coalesce((
    select jsonb_agg(jsonb_build_object('id', w.id, 'budget_id', w.budget_id, 'group_values', w.group_values,
      'starts_at', w.starts_at, 'ends_at', w.ends_at, 'held', part.held::text, 'settled', part.settled::text,
      'budget', jsonb_build_object('code', budget.code, 'measure', budget.measure, 'currency', budget.currency,
        'group_by', budget.group_by)) order by budget.created_at, budget.id)
    from budget_hold_parts part
    join budget_windows w on w.organization_id = part.organization_id and w.id = part.window_id
    join budgets budget on budget.organization_id = w.organization_id and budget.id = w.budget_id
    where part.organization_id = hold.organization_id and part.hold_id = hold.id
  ), '[]') as windows`;

/** Holds by key, and by id. */
export const listNamedHolds = async (
  { db, organizationId }: Scope,
  { keys, ids = [] }: { keys: readonly string[]; ids?: readonly string[] },
  now: Temporal.Instant,
): Promise<HoldRow[]> =>
  keys.length + ids.length === 0
    ? []
    : db<HoldRow[]>`
        select ${columns(db, now)} from budget_holds hold
        where hold.organization_id = ${organizationId} and (hold.hold_key = any (${keys}::text[])
          ${ids.length === 0 ? db`` : db`or hold.id = any (${ids}::uuid[])`})`;

const KEY = 'key:';

/** A hold by its id, or by `key:` and its key. */
export async function findHold(scope: Scope, address: string, now: Temporal.Instant): Promise<HoldRow | undefined> {
  if (address.startsWith(KEY)) return (await listNamedHolds(scope, { keys: [address.slice(KEY.length)] }, now))[0];
  if (!isUuid(address)) return undefined;
  const { db, organizationId } = scope;
  const [row] = await db<HoldRow[]>`
    select ${columns(db, now)} from budget_holds hold
    where hold.organization_id = ${organizationId} and hold.id = ${address}`;
  return row;
}

/** Holds, newest first. */
export async function listHolds(
  { db, organizationId }: Scope,
  statuses: readonly HoldStatus[] | undefined,
  { now, page }: { now: Temporal.Instant; page: Page },
): Promise<{ rows: HoldRow[]; total: Total }> {
  const { limit, offset } = limitOf(page);
  const wanted = db`
    budget_holds hold
    where hold.organization_id = ${organizationId}
      ${statuses === undefined ? db`` : db`and ${statusAt(db, now)} = any (${statuses}::text[])`}`;
  const [rows, total] = await Promise.all([
    db<HoldRow[]>`
      select ${columns(db, now)} from ${wanted}
      order by hold.created_at desc, hold.id desc limit ${limit} offset ${offset}`,
    countRecords(db, wanted),
  ]);
  return { rows, total };
}
