import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';

export interface TaxRow {
  id: string;
  code: string;
  name: string;
  description: string | null;
  /** Percent: 20 is 20 %. */
  rate: Decimal;
  /** The default billing entity holds it. */
  applied_to_organization: boolean;
  /** Codes of the live billing entities that hold it, sorted. */
  applied_to_billing_entities_codes: string[];
  created_at: Temporal.Instant;
}

/** Who holds a tax: what the link tables are called after. */
export type TaxHolder = 'customer' | 'billing_entity' | 'plan' | 'charge' | 'commitment' | 'add_on' | 'fixed_charge';

// The default billing entity is the oldest live one (billing-entities.md).
const columns = (db: Db) => db`
  tax.id, tax.code, tax.name, tax.description, tax.rate, tax.created_at,
  exists (
    select from billing_entity_taxes link
    where link.organization_id = tax.organization_id and link.tax_id = tax.id and link.billing_entity_id = (
      select entity.id from billing_entities entity
      where entity.organization_id = tax.organization_id and entity.deleted_at is null
      order by entity.created_at, entity.id limit 1)
  ) as applied_to_organization,
  array(
    select entity.code from billing_entity_taxes link
    join billing_entities entity on entity.organization_id = link.organization_id and entity.id = link.billing_entity_id
    where link.organization_id = tax.organization_id and link.tax_id = tax.id and entity.deleted_at is null
    order by entity.code
  ) as applied_to_billing_entities_codes`;

/** The live tax of a code. */
export async function findTax(db: Db, organizationId: string, code: string): Promise<TaxRow | undefined> {
  const [tax] = await db<TaxRow[]>`
    select ${columns(db)} from taxes tax
    where tax.organization_id = ${organizationId} and tax.code = ${code} and tax.deleted_at is null`;
  return tax;
}

/** @throws Refusal 404 tax */
export async function getTax(db: Db, organizationId: string, code: string): Promise<TaxRow> {
  const tax = await findTax(db, organizationId, code);
  if (!tax) throw refuse.notFound('tax');
  return tax;
}

/** Live taxes by id, oldest first. */
export const listTaxesById = (db: Db, organizationId: string, ids: readonly string[]) => db<TaxRow[]>`
  select ${columns(db)} from taxes tax
  where tax.organization_id = ${organizationId} and tax.id = any (${ids}::uuid[]) and tax.deleted_at is null
  order by tax.created_at, tax.id`;

/** As getTax, and nobody else changes it until the transaction ends. */
export async function lockTax(db: Db, organizationId: string, code: string): Promise<TaxRow> {
  const [tax] = await db<TaxRow[]>`
    select ${columns(db)} from taxes tax
    where tax.organization_id = ${organizationId} and tax.code = ${code} and tax.deleted_at is null
    for update of tax`;
  if (!tax) throw refuse.notFound('tax');
  return tax;
}

/** By name, newest first among equal names (lists.md#filters-and-order). */
export async function listTaxes(
  db: Db,
  organizationId: string,
  page: Page,
): Promise<{ rows: TaxRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const [rows, [count]] = await Promise.all([
    db<TaxRow[]>`
      select ${columns(db)} from taxes tax
      where tax.organization_id = ${organizationId} and tax.deleted_at is null
      order by tax.name, tax.created_at desc, tax.id desc
      limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`
      select count(*) as total from taxes where organization_id = ${organizationId} and deleted_at is null`,
  ]);
  return { rows, totalCount: count!.total };
}

/**
 * The live taxes of a list of codes, each once; billing entities compare codes without regard to case
 * (taxes.md#where-taxes-attach).
 *
 * @throws Refusal 404 tax, when a code names none
 */
export async function findTaxesByCodes(
  db: Db,
  organizationId: string,
  codes: readonly string[],
  options: { ignoreCase?: boolean } = {},
): Promise<TaxRow[]> {
  const wanted = [...new Set(options.ignoreCase ? codes.map((code) => code.toLowerCase()) : codes)];
  if (wanted.length === 0) return [];
  const compared = options.ignoreCase ? db`lower(tax.code)` : db`tax.code`;
  const taxes = await db<TaxRow[]>`
    select ${columns(db)} from taxes tax
    where tax.organization_id = ${organizationId} and tax.deleted_at is null and ${compared} = any (${wanted})
    order by tax.created_at, tax.id`;
  const found = new Set(taxes.map((tax) => (options.ignoreCase ? tax.code.toLowerCase() : tax.code)));
  if (wanted.some((code) => !found.has(code))) throw refuse.notFound('tax');
  return taxes;
}

type Held<Key extends string> = TaxRow & Record<Key, string>;

/** Taxes of their own of some customers, oldest first. */
export const listTaxesOfCustomers = (db: Db, organizationId: string, customerIds: readonly string[]) =>
  listTaxesOfHolders<'customer_id'>(db, organizationId, 'customer', customerIds);

/** Taxes of some billing entities, oldest first. */
export const listTaxesOfBillingEntities = (db: Db, organizationId: string, billingEntityIds: readonly string[]) =>
  listTaxesOfHolders<'billing_entity_id'>(db, organizationId, 'billing_entity', billingEntityIds);

/** Taxes of some plans, of their minimum commitments and of their live charges and fixed charges, oldest first. */
export const listTaxesOfPlans = (db: Db, organizationId: string, planIds: readonly string[]) => db<
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
export const listTaxesOfCharges = (db: Db, organizationId: string, chargeIds: readonly string[]) =>
  listTaxesOfHolders<'charge_id'>(db, organizationId, 'charge', chargeIds);

/** Taxes of some add-ons, oldest first. */
export const listTaxesOfAddOns = (db: Db, organizationId: string, addOnIds: readonly string[]) =>
  listTaxesOfHolders<'add_on_id'>(db, organizationId, 'add_on', addOnIds);

/** Taxes of some fixed charges, oldest first. */
export const listTaxesOfFixedCharges = (db: Db, organizationId: string, fixedChargeIds: readonly string[]) =>
  listTaxesOfHolders<'fixed_charge_id'>(db, organizationId, 'fixed_charge', fixedChargeIds);

async function listTaxesOfHolders<Key extends string>(
  db: Db,
  organizationId: string,
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

/** Gives a customer exactly these taxes. */
export const replaceCustomerTaxes = (db: Db, organizationId: string, customerId: string, taxIds: readonly string[]) =>
  replaceTaxes(db, organizationId, 'customer', customerId, taxIds);

/** Gives a billing entity exactly these taxes. */
export const replaceBillingEntityTaxes = (
  db: Db,
  organizationId: string,
  billingEntityId: string,
  taxIds: readonly string[],
) => replaceTaxes(db, organizationId, 'billing_entity', billingEntityId, taxIds);

/** Gives a plan exactly these taxes. */
export const replacePlanTaxes = (db: Db, organizationId: string, planId: string, taxIds: readonly string[]) =>
  replaceTaxes(db, organizationId, 'plan', planId, taxIds);

/** Gives an add-on exactly these taxes. */
export const replaceAddOnTaxes = (db: Db, organizationId: string, addOnId: string, taxIds: readonly string[]) =>
  replaceTaxes(db, organizationId, 'add_on', addOnId, taxIds);

/** Gives a minimum commitment exactly these taxes. */
export const replaceCommitmentTaxes = (
  db: Db,
  organizationId: string,
  commitmentId: string,
  taxIds: readonly string[],
) => replaceTaxes(db, organizationId, 'commitment', commitmentId, taxIds);

async function replaceTaxes(
  db: Db,
  organizationId: string,
  holder: TaxHolder,
  holderId: string,
  taxIds: readonly string[],
): Promise<void> {
  const table = db(`${holder}_taxes`);
  const key = db(`${holder}_id`);
  await db`
    with gone as (
      delete from ${table}
      where organization_id = ${organizationId} and ${key} = ${holderId} and tax_id <> all (${taxIds}::uuid[])
    )
    insert into ${table} (organization_id, ${key}, tax_id)
    select ${organizationId}::uuid, ${holderId}::uuid, tax_id from unnest(${taxIds}::uuid[]) as tax_id
    on conflict do nothing`;
}
