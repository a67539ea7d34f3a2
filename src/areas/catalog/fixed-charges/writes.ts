import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { FixedChargeId, SubscriptionId } from '../../../platform/ids.ts';
import type { PreparedFixedCharge } from './prepare-fixed-charges.ts';
import type { FixedChargeRow } from './queries.ts';

/** Saves fixed charges with the taxes that are rewritten. */
export async function saveFixedCharges(
  scope: Scope,
  prepared: readonly Pick<PreparedFixedCharge, 'fixedCharge' | 'taxIds'>[],
  now: Temporal.Instant,
): Promise<void> {
  const { db, organizationId } = scope;
  if (prepared.length === 0) return;
  await upsertFixedCharges(
    scope,
    prepared.map(({ fixedCharge }) => fixedCharge),
    now,
  );
  const changed = prepared.filter(({ taxIds }) => taxIds !== undefined);
  if (changed.length === 0) return;
  const pairs = changed.flatMap(({ fixedCharge, taxIds }) => taxIds!.map((taxId) => [fixedCharge.id, taxId] as const));
  await db`
    delete from fixed_charge_taxes
    where organization_id = ${organizationId}
      and fixed_charge_id = any (${changed.map(({ fixedCharge }) => fixedCharge.id)}::uuid[])`;
  await db`
    insert into fixed_charge_taxes (organization_id, fixed_charge_id, tax_id)
    select distinct ${organizationId}::uuid, fixed_charge_id, tax_id
    from unnest(${pairs.map(([id]) => id)}::uuid[], ${pairs.map(([, id]) => id)}::uuid[]) as row (fixed_charge_id,
      tax_id)`;
}

async function upsertFixedCharges(
  { db, organizationId }: Scope,
  fixedCharges: readonly FixedChargeRow[],
  now: Temporal.Instant,
): Promise<void> {
  const rows = fixedCharges.map((row) => ({
    ...row,
    units: row.units.toFixed(),
    created_at: row.created_at.toString(),
  }));
  await db`
    insert into fixed_charges (id, organization_id, plan_id, parent_id, add_on_id, code, charge_model,
      invoice_display_name, units, pay_in_advance, prorated, properties, created_at, updated_at)
    select id, ${organizationId}::uuid, plan_id, parent_id, add_on_id, code, charge_model, invoice_display_name, units,
      pay_in_advance, prorated, properties, created_at, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as row (id uuid, plan_id uuid, parent_id uuid, add_on_id uuid,
      code text, charge_model text, invoice_display_name text, units numeric, pay_in_advance boolean,
      prorated boolean, properties jsonb, created_at timestamptz)
    on conflict (id) do update
    set code = excluded.code, charge_model = excluded.charge_model,
      invoice_display_name = excluded.invoice_display_name, units = excluded.units,
      pay_in_advance = excluded.pay_in_advance, prorated = excluded.prorated, properties = excluded.properties,
      updated_at = excluded.updated_at`;
}

/** Deletes fixed charges: they are billed no more, fees made with them stay. */
export const deleteFixedCharges = (
  { db, organizationId }: Scope,
  ids: readonly FixedChargeId[],
  now: Temporal.Instant,
) => db`
  update fixed_charges set deleted_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and deleted_at is null`;

/** Gives copies the taxes of the fixed charges that they were made from. */
export const copyTaxes = ({ db, organizationId }: Scope, copies: readonly { from: string; to: string }[]) => db`
  insert into fixed_charge_taxes (organization_id, fixed_charge_id, tax_id)
  select tax.organization_id, copy."to", tax.tax_id
  from jsonb_to_recordset(${json(copies)}::jsonb) as copy ("from" uuid, "to" uuid)
  join fixed_charge_taxes tax on tax.organization_id = ${organizationId} and tax.fixed_charge_id = copy."from"
  on conflict do nothing`;

/** Units of a fixed charge for one subscription, from an instant on. */
export interface NewUnits {
  id: string;
  subscription_id: SubscriptionId;
  fixed_charge_id: FixedChargeId;
  units: Decimal;
  effective_at: Temporal.Instant;
}

/** Adds to the log of units. Rule: fixed-charges.md#unit-records. */
export async function insertUnits(
  { db, organizationId }: Scope,
  records: readonly NewUnits[],
  now: Temporal.Instant,
): Promise<void> {
  if (records.length === 0) return;
  const rows = records.map((record) => ({
    ...record,
    units: record.units.toFixed(),
    effective_at: record.effective_at.toString(),
  }));
  await db`
    insert into fixed_charge_units (id, organization_id, subscription_id, fixed_charge_id, units, effective_at,
      created_at)
    select id, ${organizationId}::uuid, subscription_id, fixed_charge_id, units, effective_at, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as row (id uuid, subscription_id uuid, fixed_charge_id uuid,
      units numeric, effective_at timestamptz)`;
}

/** Gives one subscription units of its own. */
export async function saveUnitsOverrides(
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
  {
    overrides,
    now,
  }: { overrides: readonly { fixed_charge_id: FixedChargeId; units: Decimal }[]; now: Temporal.Instant },
): Promise<void> {
  if (overrides.length === 0) return;
  const rows = overrides.map(({ fixed_charge_id, units }) => ({ fixed_charge_id, units: units.toFixed() }));
  await db`
    insert into fixed_charge_units_overrides (organization_id, subscription_id, fixed_charge_id, units, created_at,
      updated_at)
    select ${organizationId}::uuid, ${subscriptionId}::uuid, fixed_charge_id, units, ${now}, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as row (fixed_charge_id uuid, units numeric)
    on conflict (organization_id, subscription_id, fixed_charge_id) do update
    set units = excluded.units, updated_at = excluded.updated_at`;
}

/** Takes the units of its own from a subscription. */
export const dropUnitsOverrides = ({ db, organizationId }: Scope, subscriptionId: SubscriptionId) => db`
  delete from fixed_charge_units_overrides
  where organization_id = ${organizationId} and subscription_id = ${subscriptionId}`;
