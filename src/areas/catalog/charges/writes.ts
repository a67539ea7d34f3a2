import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { ChargeFilterId, ChargeId } from '../../../platform/ids.ts';
import type { PreparedCharge } from './prepare-charges.ts';
import type { ChargeFilterRow, ChargeRow } from './queries.ts';

/** Saves charges with the filters and taxes that are rewritten: at most five statements, sent together. */
export async function saveCharges(
  scope: Scope,
  prepared: readonly PreparedCharge[],
  now: Temporal.Instant,
): Promise<void> {
  const charges = prepared.map(({ charge }) => charge);
  const filters = prepared.flatMap((each) => each.filters ?? []);
  const chargeIds = prepared.filter((each) => each.filters).map(({ charge }) => charge.id);
  const keptIds = filters.map(({ id }) => id);
  await Promise.all([
    upsertCharges(scope, charges, now),
    deleteOtherFilters(scope, chargeIds, { keptIds, now }),
    upsertFilters(scope, filters, now),
    replaceTaxesOfCharges(scope, prepared),
  ]);
}

async function upsertCharges({ db, organizationId }: Scope, charges: readonly ChargeRow[], now: Temporal.Instant) {
  if (charges.length === 0) return;
  const rows = charges.map((charge) => ({ ...charge, created_at: charge.created_at.toString() }));
  await db`
    insert into charges (id, organization_id, plan_id, parent_id, billable_metric_id, code, charge_model,
      invoice_display_name, pay_in_advance, prorated, invoiceable, regroup_paid_fees, min_amount_cents,
      accepts_target_wallet, properties, pricing_unit_id, conversion_rate, created_at, updated_at)
    select id, ${organizationId}::uuid, plan_id, parent_id, billable_metric_id, code, charge_model,
      invoice_display_name, pay_in_advance, prorated, invoiceable, regroup_paid_fees, min_amount_cents,
      accepts_target_wallet, properties, pricing_unit_id, conversion_rate, created_at, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as row (id uuid, plan_id uuid, parent_id uuid,
      billable_metric_id uuid, code text, charge_model text, invoice_display_name text, pay_in_advance boolean,
      prorated boolean, invoiceable boolean, regroup_paid_fees text, min_amount_cents bigint,
      accepts_target_wallet boolean, properties jsonb, pricing_unit_id uuid, conversion_rate numeric,
      created_at timestamptz)
    on conflict (id) do update
    set billable_metric_id = excluded.billable_metric_id, code = excluded.code, charge_model = excluded.charge_model,
      invoice_display_name = excluded.invoice_display_name, pay_in_advance = excluded.pay_in_advance,
      prorated = excluded.prorated, invoiceable = excluded.invoiceable, regroup_paid_fees = excluded.regroup_paid_fees,
      min_amount_cents = excluded.min_amount_cents, accepts_target_wallet = excluded.accepts_target_wallet,
      properties = excluded.properties, pricing_unit_id = excluded.pricing_unit_id,
      conversion_rate = excluded.conversion_rate, updated_at = excluded.updated_at`;
}

async function deleteOtherFilters(
  { db, organizationId }: Scope,
  chargeIds: readonly ChargeId[],
  { keptIds, now }: { keptIds: readonly string[]; now: Temporal.Instant },
) {
  if (chargeIds.length === 0) return;
  await db`
    update charge_filters set deleted_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and charge_id = any (${chargeIds}::uuid[])
      and id <> all (${keptIds}::uuid[]) and deleted_at is null`;
}

/** Adds and changes charge filters. */
export async function upsertFilters(
  { db, organizationId }: Scope,
  filters: readonly ChargeFilterRow[],
  now: Temporal.Instant,
): Promise<void> {
  if (filters.length === 0) return;
  const rows = filters.map((filter) => ({ ...filter, created_at: filter.created_at.toString() }));
  await db`
    insert into charge_filters (id, organization_id, charge_id, code, invoice_display_name, "values", properties,
      position, created_at, updated_at)
    select id, ${organizationId}::uuid, charge_id, code, invoice_display_name, "values", properties, position,
      created_at, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as row (id uuid, charge_id uuid, code text,
      invoice_display_name text, "values" jsonb, properties jsonb, position integer, created_at timestamptz)
    on conflict (id) do update
    set invoice_display_name = excluded.invoice_display_name, "values" = excluded."values",
      properties = excluded.properties, position = excluded.position, updated_at = excluded.updated_at`;
}

async function replaceTaxesOfCharges({ db, organizationId }: Scope, prepared: readonly PreparedCharge[]) {
  const changed = prepared.filter(({ taxIds }) => taxIds !== undefined).map(({ charge }) => charge.id);
  if (changed.length === 0) return;
  const pairs = prepared.flatMap(({ charge, taxIds }) => (taxIds ?? []).map((taxId) => [charge.id, taxId] as const));
  await Promise.all([
    db`
      delete from charge_taxes
      where organization_id = ${organizationId} and charge_id = any (${changed}::uuid[])`,
    db`
      insert into charge_taxes (organization_id, charge_id, tax_id)
      select distinct ${organizationId}::uuid, charge_id, tax_id
      from unnest(${pairs.map(([id]) => id)}::uuid[], ${pairs.map(([, id]) => id)}::uuid[]) as row (charge_id, tax_id)`,
  ]);
}

/** Deletes charges and their filters. Fees made with them stay. */
export const deleteCharges = ({ db, organizationId }: Scope, ids: readonly ChargeId[], now: Temporal.Instant) => db`
  with filters as (
    update charge_filters set deleted_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and charge_id = any (${ids}::uuid[]) and deleted_at is null
  )
  update charges set deleted_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and deleted_at is null`;

export const deleteFilter = ({ db, organizationId }: Scope, id: ChargeFilterId, now: Temporal.Instant) => db`
  update charge_filters set deleted_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id} and deleted_at is null`;
