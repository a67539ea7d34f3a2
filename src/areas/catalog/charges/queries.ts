import type { Temporal } from 'temporal-polyfill';
import type { FilterValues } from '../../../engine/metrics/choose-filter.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Properties } from '../../../engine/pricing/charge-model.ts';
import type { ChargeModelName } from '../../../engine/pricing/charge-models.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ChargeFilterId, ChargeId, MetricId, PlanId, PricingUnitId } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';

export interface ChargeRow {
  id: ChargeId;
  plan_id: PlanId;
  parent_id: string | null;
  billable_metric_id: MetricId;
  billable_metric_code: string;
  code: string;
  charge_model: ChargeModelName;
  invoice_display_name: string | null;
  pay_in_advance: boolean;
  prorated: boolean;
  invoiceable: boolean;
  regroup_paid_fees: 'invoice' | null;
  min_amount_cents: number;
  accepts_target_wallet: boolean;
  properties: Properties;
  /** The pricing unit of its prices, if they are not in the currency of the plan. */
  pricing_unit_id: PricingUnitId | null;
  pricing_unit_code: string | null;
  /** Main units of the currency per pricing unit. */
  conversion_rate: Decimal | null;
  created_at: Temporal.Instant;
}

export interface ChargeFilterRow {
  id: ChargeFilterId;
  charge_id: ChargeId;
  /** Internal and stable; never shown. */
  code: string;
  invoice_display_name: string | null;
  values: FilterValues;
  properties: Properties;
  position: number;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  c.id, c.plan_id, c.parent_id, c.billable_metric_id, m.code as billable_metric_code, c.code, c.charge_model,
  c.invoice_display_name, c.pay_in_advance, c.prorated, c.invoiceable, c.regroup_paid_fees, c.min_amount_cents,
  c.accepts_target_wallet, c.properties, c.pricing_unit_id, unit.code as pricing_unit_code, c.conversion_rate,
  c.created_at`;

const tables = (db: Db) => db`
  charges c join billable_metrics m on m.organization_id = c.organization_id and m.id = c.billable_metric_id
  left join pricing_units unit on unit.organization_id = c.organization_id and unit.id = c.pricing_unit_id`;

const filterColumns = (db: Db) => db`
  f.id, f.charge_id, f.code, f.invoice_display_name, f."values", f.properties, f.position, f.created_at`;

/** Live charges of some plans, in the order in which they were made. */
export const listChargesOfPlans = ({ db, organizationId }: Scope, planIds: readonly PlanId[]) => db<ChargeRow[]>`
  select ${columns(db)} from ${tables(db)}
  where c.organization_id = ${organizationId} and c.plan_id = any (${planIds}::uuid[]) and c.deleted_at is null
  order by c.created_at, c.id`;

/** Live filters of some charges, each charge's in its order. */
export const listFiltersOfCharges = ({ db, organizationId }: Scope, chargeIds: readonly ChargeId[]) =>
  db<ChargeFilterRow[]>`
    select ${filterColumns(db)} from charge_filters f
    where f.organization_id = ${organizationId} and f.charge_id = any (${chargeIds}::uuid[])
      and f.deleted_at is null
    order by f.charge_id, f.position, f.id`;

/** A page of the live charges of a plan, newest first. */
export const listCharges = ({ db, organizationId }: Scope, planId: PlanId, page: Page) => db<ChargeRow[]>`
  select ${columns(db)} from ${tables(db)}
  where c.organization_id = ${organizationId} and c.plan_id = ${planId} and c.deleted_at is null
  order by c.created_at desc, c.id desc
  limit ${limitOf(page).limit} offset ${limitOf(page).offset}`;

export async function countCharges({ db, organizationId }: Scope, planId: PlanId): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from charges
    where organization_id = ${organizationId} and plan_id = ${planId} and deleted_at is null`;
  return row!.count;
}

/** @throws Refusal 404 charge */
export async function getChargeByCode({ db, organizationId }: Scope, planId: PlanId, code: string): Promise<ChargeRow> {
  const [row] = await db<ChargeRow[]>`
    select ${columns(db)} from ${tables(db)}
    where c.organization_id = ${organizationId} and c.plan_id = ${planId} and c.code = ${code} and c.deleted_at is null`;
  if (!row) throw refuse.notFound('charge');
  return row;
}

/** A page of the live filters of a charge, in their order. */
export const listFilters = ({ db, organizationId }: Scope, chargeId: ChargeId, page: Page) => db<ChargeFilterRow[]>`
  select ${filterColumns(db)} from charge_filters f
  where f.organization_id = ${organizationId} and f.charge_id = ${chargeId} and f.deleted_at is null
  order by f.position, f.id
  limit ${limitOf(page).limit} offset ${limitOf(page).offset}`;

export async function countFilters({ db, organizationId }: Scope, chargeId: ChargeId): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from charge_filters
    where organization_id = ${organizationId} and charge_id = ${chargeId} and deleted_at is null`;
  return row!.count;
}

/** A live filter of a charge. */
export async function findFilter(
  { db, organizationId }: Scope,
  chargeId: ChargeId,
  id: ChargeFilterId,
): Promise<ChargeFilterRow | undefined> {
  const [row] = await db<ChargeFilterRow[]>`
    select ${filterColumns(db)} from charge_filters f
    where f.organization_id = ${organizationId} and f.charge_id = ${chargeId} and f.id = ${id} and f.deleted_at is null`;
  return row;
}
