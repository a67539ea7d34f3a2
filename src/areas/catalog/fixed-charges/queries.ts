import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Properties } from '../../../engine/pricing/charge-model.ts';
import type { FixedChargeModel } from '../../../engine/pricing/fixed-charge-rules.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { AddOnId, FixedChargeId, PlanId, SubscriptionId } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';

export interface FixedChargeRow {
  id: FixedChargeId;
  plan_id: PlanId;
  parent_id: string | null;
  add_on_id: AddOnId;
  add_on_code: string;
  /** Name of the add-on on documents. */
  add_on_name: string;
  add_on_full_name: string;
  add_on_description: string | null;
  code: string;
  charge_model: FixedChargeModel;
  invoice_display_name: string | null;
  units: Decimal;
  pay_in_advance: boolean;
  prorated: boolean;
  properties: Properties;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  f.id, f.plan_id, f.parent_id, f.add_on_id, add_on.code as add_on_code,
  coalesce(add_on.invoice_display_name, add_on.name) as add_on_name, add_on.name as add_on_full_name,
  add_on.description as add_on_description, f.code, f.charge_model, f.invoice_display_name,
  f.units, f.pay_in_advance, f.prorated, f.properties, f.created_at`;

const tables = (db: Db) => db`
  fixed_charges f join add_ons add_on on add_on.organization_id = f.organization_id and add_on.id = f.add_on_id`;

/** Live fixed charges of some plans, in the order in which they were made. */
export const listFixedChargesOfPlans = ({ db, organizationId }: Scope, planIds: readonly PlanId[]) => db<
  FixedChargeRow[]
>`
  select ${columns(db)} from ${tables(db)}
  where f.organization_id = ${organizationId} and f.plan_id = any (${planIds}::uuid[])
    and f.deleted_at is null
  order by f.created_at, f.id`;

/** A page of the live fixed charges of a plan, newest first. */
export const listFixedCharges = ({ db, organizationId }: Scope, planId: PlanId, page: Page) => db<FixedChargeRow[]>`
  select ${columns(db)} from ${tables(db)}
  where f.organization_id = ${organizationId} and f.plan_id = ${planId} and f.deleted_at is null
  order by f.created_at desc, f.id desc
  limit ${limitOf(page).limit} offset ${limitOf(page).offset}`;

export async function countFixedCharges({ db, organizationId }: Scope, planId: PlanId): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from fixed_charges
    where organization_id = ${organizationId} and plan_id = ${planId} and deleted_at is null`;
  return row!.count;
}

/** @throws Refusal 404 fixed_charge */
export async function getFixedChargeByCode(
  { db, organizationId }: Scope,
  planId: PlanId,
  code: string,
): Promise<FixedChargeRow> {
  const [row] = await db<FixedChargeRow[]>`
    select ${columns(db)} from ${tables(db)}
    where f.organization_id = ${organizationId} and f.plan_id = ${planId} and f.code = ${code}
      and f.deleted_at is null`;
  if (!row) throw refuse.notFound('fixed_charge');
  return row;
}

/** Live fixed charges that were copied from some others, in plans that are there. */
export const listCopiesOfFixedCharges = ({ db, organizationId }: Scope, parentIds: readonly string[]) => db<
  FixedChargeRow[]
>`
  select ${columns(db)} from ${tables(db)}
  join plans plan on plan.organization_id = f.organization_id and plan.id = f.plan_id and plan.deleted_at is null
  where f.organization_id = ${organizationId} and f.parent_id = any (${parentIds}::uuid[])
    and f.deleted_at is null
  order by f.created_at, f.id`;

/** Whether a plan has a fixed charge that is paid in advance. */
export async function hasFixedChargesInAdvance({ db, organizationId }: Scope, planId: PlanId): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from fixed_charges
      where organization_id = ${organizationId} and plan_id = ${planId} and pay_in_advance and deleted_at is null
    ) as found`;
  return row!.found;
}

/** Units that a subscription has instead of its plan's, by fixed charge. */
export async function unitsOverridesOf(
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
): Promise<Map<string, Decimal>> {
  const rows = await db<{ fixed_charge_id: FixedChargeId; units: Decimal }[]>`
    select fixed_charge_id, units from fixed_charge_units_overrides
    where organization_id = ${organizationId} and subscription_id = ${subscriptionId}`;
  return new Map(rows.map(({ fixed_charge_id, units }) => [fixed_charge_id, units]));
}
