import { z } from 'zod';
import { VAT_CATEGORIES } from '../../../engine/invoices/vat-breakdown.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { columnsOf } from '../../../platform/db/rows.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  AddOnId,
  BillingEntityId,
  ChargeId,
  CustomerId,
  FixedChargeId,
  PlanId,
  TaxId,
} from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import {
  type Column,
  column,
  computed,
  orAbsent,
  orNull,
  plain,
  type RowOf,
} from '../../../platform/schema/columns.ts';

const isAppliedToOrganization = (db: Db) => db`
  exists (
    select from billing_entity_taxes link
    where link.organization_id = tax.organization_id and link.tax_id = tax.id and link.billing_entity_id = (
      select entity.id from billing_entities entity
      where entity.organization_id = tax.organization_id and entity.deleted_at is null
      order by entity.created_at, entity.id limit 1)
  )`;

const codesOfBillingEntities = (db: Db) => db`
  array(
    select entity.code from billing_entity_taxes link
    join billing_entities entity on entity.organization_id = link.organization_id and entity.id = link.billing_entity_id
    where link.organization_id = tax.organization_id and link.tax_id = tax.id and entity.deleted_at is null
    order by entity.code
  )`;

/** A tax as it is stored and shown. */
export const taxes = {
  name: 'tax',
  table: 'taxes',
  columns: {
    id: column.idOf<TaxId>(),
    name: column.text,
    code: column.text,
    description: orNull(column.text),
    /** Percent: 20 is 20 %. */
    rate: column.decimal,
    /** For electronic documents; absent while the seller has not said it. Rule: e-documents.md#categories. */
    vat_category: orAbsent(plain(z.enum(VAT_CATEGORIES))),
    exemption_code: orAbsent(column.text),
    exemption_text: orAbsent(column.text),
    /** A tax beside value added tax, which no electronic document can state; shown only where it is one. */
    not_vat: { shown: z.boolean().optional(), show: (stored: boolean) => (stored ? true : undefined) } as Column<
      boolean,
      z.ZodOptional<z.ZodBoolean>
    >,
    /** The default billing entity, which is the oldest live one, holds it. Rule: billing-entities.md. */
    applied_to_organization: computed(column.boolean, isAppliedToOrganization),
    /** Codes of the live billing entities that hold it, sorted. */
    applied_to_billing_entities_codes: computed(column.texts, codesOfBillingEntities),
    created_at: column.instant,
  },
};
export type TaxRow = RowOf<typeof taxes>;

/** Records that may have a tax, as the link tables name them. */
export type TaxHolder = 'customer' | 'billing_entity' | 'plan' | 'charge' | 'commitment' | 'add_on' | 'fixed_charge';

const columns = (db: Db) => columnsOf(db, taxes);

/** Live taxes by id, oldest first. */
export const listTaxesById = ({ db, organizationId }: Scope, ids: readonly TaxId[]) => db<TaxRow[]>`
  select ${columns(db)} from taxes tax
  where tax.organization_id = ${organizationId} and tax.id = any (${ids}::uuid[]) and tax.deleted_at is null
  order by tax.created_at, tax.id`;

/**
 * The live taxes of a list of codes, each once; billing entities compare codes without regard to case
 * (taxes.md#where-taxes-attach).
 *
 * @throws Refusal 404 tax, when a code names none
 */
export async function findTaxesByCodes(
  { db, organizationId }: Scope,
  codes: readonly string[],
  options: { ignoreCase?: boolean } = {},
): Promise<TaxRow[]> {
  const wanted = [...new Set(options.ignoreCase ? codes.map((code) => code.toLowerCase()) : codes)];
  if (wanted.length === 0) return [];
  const compared = options.ignoreCase ? db`lower(tax.code)` : db`tax.code`;
  const rows = await db<TaxRow[]>`
    select ${columns(db)} from taxes tax
    where tax.organization_id = ${organizationId} and tax.deleted_at is null and ${compared} = any (${wanted})
    order by tax.created_at, tax.id`;
  const found = new Set(rows.map((tax) => (options.ignoreCase ? tax.code.toLowerCase() : tax.code)));
  if (wanted.some((code) => !found.has(code))) throw refuse.notFound('tax');
  return rows;
}

type Held<Key extends string> = TaxRow & Record<Key, string>;

/** Taxes of their own of some customers, oldest first. */
export const listTaxesOfCustomers = (scope: Scope, customerIds: readonly CustomerId[]) =>
  listTaxesOfHolders<'customer_id'>(scope, 'customer', customerIds);

/** Taxes of some billing entities, oldest first. */
export const listTaxesOfBillingEntities = (scope: Scope, billingEntityIds: readonly BillingEntityId[]) =>
  listTaxesOfHolders<'billing_entity_id'>(scope, 'billing_entity', billingEntityIds);

/** Taxes of some plans, of their minimum commitments and of their live charges and fixed charges, oldest first. */
export const listTaxesOfPlans = ({ db, organizationId }: Scope, planIds: readonly PlanId[]) => db<
  (Held<'plan_id' | 'holder_id'> & { holder: 'plan' | 'commitment' | 'charge' | 'fixed_charge' })[]
>`
  select ${columns(db)}, holding.plan_id, holding.holder, holding.holder_id
  from (
    select plan_id, tax_id, 'plan' as holder, plan_id as holder_id from plan_taxes
    where organization_id = ${organizationId} and plan_id = any (${planIds}::uuid[])
    union all
    select commitment.plan_id, link.tax_id, 'commitment', commitment.plan_id from minimum_commitments commitment
    join commitment_taxes link
      on link.organization_id = commitment.organization_id and link.commitment_id = commitment.id
    where commitment.organization_id = ${organizationId} and commitment.plan_id = any (${planIds}::uuid[])
    union all
    select charge.plan_id, link.tax_id, 'charge', charge.id from charges charge
    join charge_taxes link on link.organization_id = charge.organization_id and link.charge_id = charge.id
    where charge.organization_id = ${organizationId} and charge.plan_id = any (${planIds}::uuid[])
      and charge.deleted_at is null
    union all
    select fixed.plan_id, link.tax_id, 'fixed_charge', fixed.id from fixed_charges fixed
    join fixed_charge_taxes link on link.organization_id = fixed.organization_id and link.fixed_charge_id = fixed.id
    where fixed.organization_id = ${organizationId} and fixed.plan_id = any (${planIds}::uuid[])
      and fixed.deleted_at is null
  ) holding
  join taxes tax on tax.organization_id = ${organizationId} and tax.id = holding.tax_id and tax.deleted_at is null
  order by tax.created_at, tax.id`;

/** Taxes of some charges, oldest first. */
export const listTaxesOfCharges = (scope: Scope, chargeIds: readonly ChargeId[]) =>
  listTaxesOfHolders<'charge_id'>(scope, 'charge', chargeIds);

/** Taxes of some add-ons, oldest first. */
export const listTaxesOfAddOns = (scope: Scope, addOnIds: readonly AddOnId[]) =>
  listTaxesOfHolders<'add_on_id'>(scope, 'add_on', addOnIds);

/** Taxes of some fixed charges, oldest first. */
export const listTaxesOfFixedCharges = (scope: Scope, fixedChargeIds: readonly FixedChargeId[]) =>
  listTaxesOfHolders<'fixed_charge_id'>(scope, 'fixed_charge', fixedChargeIds);

async function listTaxesOfHolders<Key extends string>(
  { db, organizationId }: Scope,
  holder: TaxHolder,
  holderIds: readonly string[],
): Promise<Held<Key>[]> {
  if (holderIds.length === 0) return [];
  const key = `${holder}_id`;
  return db<Held<Key>[]>`
    select ${columns(db)}, holding.${db(key)} from ${db(`${holder}_taxes`)} holding
    join taxes tax on tax.organization_id = holding.organization_id and tax.id = holding.tax_id
    where holding.organization_id = ${organizationId} and holding.${db(key)} = any (${holderIds})
      and tax.deleted_at is null
    order by tax.created_at, tax.id`;
}
