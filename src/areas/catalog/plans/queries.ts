import type { Temporal } from 'temporal-polyfill';
import type { Interval } from '../../../engine/calendar/grid.ts';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PlanId } from '../../../platform/ids.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { type Counted, limitOf, pageOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { grantsOfPlan, type PlanGrantJson } from '../entitlements/plan-grants.ts';
import { type CommitmentJson, commitmentOf } from '../minimum-commitments/queries.ts';
import { policiesOfPlan } from '../usage-policies/queries.ts';
import type { UsagePolicies } from '../usage-policies/schema.ts';
import type { Metadata } from './metadata.ts';
import type { PlanListQuery } from './schema.ts';

export interface PlanRow {
  id: PlanId;
  parent_id: string | null;
  code: string;
  name: string;
  invoice_display_name: string | null;
  description: string | null;
  interval: Interval;
  pay_in_advance: boolean;
  amount_cents: number;
  amount_currency: Currency;
  /** Days; null and 0 are no trial. */
  trial_period: Decimal | null;
  bill_charges_monthly: boolean | null;
  bill_fixed_charges_monthly: boolean | null;
  metadata: Metadata | null;
  usage_policies: UsagePolicies | null;
  minimum_commitment: CommitmentJson | null;
  /** What it grants; of an override, what its plan does. */
  entitlements: PlanGrantJson[];
  pending_deletion: boolean;
  deleted_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  p.id, p.parent_id, p.code, p.name, p.invoice_display_name, p.description, p.interval, p.pay_in_advance,
    p.amount_cents,
  p.amount_currency, p.trial_period, p.bill_charges_monthly, p.bill_fixed_charges_monthly, p.metadata,
  ${policiesOfPlan(db, 'p')} as usage_policies,
  ${commitmentOf(db, 'p')} as minimum_commitment, ${grantsOfPlan(db, 'p')} as entitlements, p.pending_deletion,
  p.deleted_at, p.created_at`;

// Overrides are never listed or addressed.
const addressable = ({ db, organizationId }: Scope) => db`
  p.organization_id = ${organizationId} and p.deleted_at is null and p.parent_id is null`;

/** A live plan by its code; overrides have none of their own. */
export async function findPlanByCode(scope: Scope, code: string): Promise<PlanRow | undefined> {
  const [row] = await scope.db<PlanRow[]>`
    select ${columns(scope.db)} from plans p where ${addressable(scope)} and p.code = ${code}`;
  return row;
}

/** @throws Refusal 404 plan */
export async function getPlanByCode(scope: Scope, code: string): Promise<PlanRow> {
  const row = await findPlanByCode(scope, code);
  if (!row) throw refuse.notFound('plan');
  return row;
}

/**
 * As getPlanByCode, and the plan, its charges and its subscribers stay locked until the transaction ends.
 *
 * @throws Refusal 404 plan
 */
export async function lockPlanByCode(scope: Scope, code: string): Promise<PlanRow> {
  const [row] = await scope.db<PlanRow[]>`
    select ${columns(scope.db)} from plans p where ${addressable(scope)} and p.code = ${code}
    for update of p`;
  if (!row) throw refuse.notFound('plan');
  return row;
}

/** Plans by id, deleted ones and overrides too, in no particular order. */
export const listPlansById = ({ db, organizationId }: Scope, ids: readonly PlanId[]) => db<PlanRow[]>`
  select ${columns(db)} from plans p
  where p.organization_id = ${organizationId} and p.id = any (${ids}::uuid[])`;

/** A page of live plans, newest first, and how many there are; plans pending deletion are included. */
export function listPlans(scope: Scope, query: PlanListQuery): Promise<{ rows: readonly PlanRow[]; total: Counted }> {
  const { db } = scope;
  const { limit, offset } = limitOf(query);
  const term = query.search_term;
  const found = db`plans p where ${addressable(scope)} ${
    term === undefined ? db`` : db`and (p.name ilike ${containsPattern(term)} or p.code ilike ${containsPattern(term)})`
  }`;
  return pageOf(query, {
    rows: () => db<PlanRow[]>`
      select ${columns(db)} from ${found} order by p.created_at desc, p.id desc limit ${limit} offset ${offset}`,
    count: async () => (await db<{ count: number }[]>`select count(*) as count from ${found}`)[0]!.count,
  });
}

/** Whether a subscription of any status is, or was, on the plan: then most of it is frozen. */
export async function hasSubscriptions({ db, organizationId }: Scope, planId: PlanId): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from subscriptions where organization_id = ${organizationId} and plan_id = ${planId}
    ) as found`;
  return row!.found;
}

/** Ids of the live overrides of a plan. */
export async function listOverrideIds({ db, organizationId }: Scope, planId: PlanId): Promise<string[]> {
  const rows = await db<{ id: PlanId }[]>`
    select id from plans where organization_id = ${organizationId} and parent_id = ${planId} and deleted_at is null
    order by id`;
  return rows.map(({ id }) => id);
}
