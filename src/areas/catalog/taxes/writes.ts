import type { Db } from '../../../platform/db/connect.ts';
import type { TaxHolder } from './queries.ts';

export const attachToBillingEntity = (db: Db, organizationId: string, taxId: string, billingEntityId: string) => db`
  insert into billing_entity_taxes (organization_id, billing_entity_id, tax_id)
  values (${organizationId}, ${billingEntityId}, ${taxId})
  on conflict do nothing`;

export const detachFromBillingEntity = (db: Db, organizationId: string, taxId: string, billingEntityId: string) => db`
  delete from billing_entity_taxes
  where organization_id = ${organizationId} and billing_entity_id = ${billingEntityId} and tax_id = ${taxId}`;

/**
 * Removes a tax from everything that has it, including drafts and their fees; finalized invoices keep their copy
 * (taxes.md#resource).
 */
export async function detachEverywhere(db: Db, organizationId: string, taxId: string): Promise<void> {
  await db`
    with customer as (delete from customer_taxes where organization_id = ${organizationId} and tax_id = ${taxId}),
    entity as (delete from billing_entity_taxes where organization_id = ${organizationId} and tax_id = ${taxId}),
    plan as (delete from plan_taxes where organization_id = ${organizationId} and tax_id = ${taxId}),
    charge as (delete from charge_taxes where organization_id = ${organizationId} and tax_id = ${taxId}),
    commitment as (delete from commitment_taxes where organization_id = ${organizationId} and tax_id = ${taxId}),
    add_on as (delete from add_on_taxes where organization_id = ${organizationId} and tax_id = ${taxId}),
    fixed_charge as (delete from fixed_charge_taxes where organization_id = ${organizationId} and tax_id = ${taxId}),
    draft as (select id from invoices where organization_id = ${organizationId} and status = 'draft'),
    draft_tax as (
      delete from invoice_applied_taxes
      where organization_id = ${organizationId} and tax_id = ${taxId} and invoice_id in (select id from draft)
    )
    delete from fee_applied_taxes
    where organization_id = ${organizationId} and tax_id = ${taxId} and fee_id in (
      select id from fees where organization_id = ${organizationId} and invoice_id in (select id from draft))`;
}

/**
 * Flags drafts for a refresh: those of customers with the tax, and for each billing entity with it those of its
 * customers without taxes of their own.
 */
export const flagDraftsOfTax = (db: Db, organizationId: string, taxId: string) =>
  flagDraftsOfTaxes(db, organizationId, [taxId]);

/** As flagDraftsOfTax, for several. */
export const flagDraftsOfTaxes = (db: Db, organizationId: string, taxIds: readonly string[]) => db`
  update invoices set ready_to_be_refreshed = true
  where organization_id = ${organizationId} and status = 'draft' and not ready_to_be_refreshed and customer_id in (
    select customer_id from customer_taxes
      where organization_id = ${organizationId} and tax_id = any (${taxIds}::uuid[])
    union all
    select customer.id from billing_entity_taxes link
    join customers customer on customer.organization_id = link.organization_id
      and customer.billing_entity_id = link.billing_entity_id
    where link.organization_id = ${organizationId} and link.tax_id = any (${taxIds}::uuid[]) and not exists (
      select from customer_taxes own
      where own.organization_id = customer.organization_id and own.customer_id = customer.id))`;

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
