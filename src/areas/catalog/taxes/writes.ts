import { isImagined } from '../../../platform/db/preview-tables.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { AddOnId, BillingEntityId, CommitmentId, CustomerId, PlanId, TaxId } from '../../../platform/ids.ts';
import type { TaxHolder } from './queries.ts';

export const attachToBillingEntity = (
  { db, organizationId }: Scope,
  taxId: TaxId,
  billingEntityId: BillingEntityId,
) => db`
  insert into billing_entity_taxes (organization_id, billing_entity_id, tax_id)
  values (${organizationId}, ${billingEntityId}, ${taxId})
  on conflict do nothing`;

export const detachFromBillingEntity = (
  { db, organizationId }: Scope,
  taxId: TaxId,
  billingEntityId: BillingEntityId,
) => db`
  delete from billing_entity_taxes
  where organization_id = ${organizationId} and billing_entity_id = ${billingEntityId} and tax_id = ${taxId}`;

/**
 * Removes a tax from everything that has it, including drafts and their fees; finalized invoices keep their copy
 * (taxes.md#resource).
 */
export async function detachEverywhere({ db, organizationId }: Scope, taxId: TaxId): Promise<void> {
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
export const flagDraftsOfTax = (scope: Scope, taxId: TaxId) => flagDraftsOfTaxes(scope, [taxId]);

/** As flagDraftsOfTax, for several. */
export const flagDraftsOfTaxes = ({ db, organizationId }: Scope, taxIds: readonly TaxId[]) => db`
  update invoices set ready_to_be_refreshed = true
  where organization_id = ${organizationId} and status = 'draft' and not ready_to_be_refreshed
    and not (${isImagined(db)}) and customer_id in (
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
export const replaceCustomerTaxes = (scope: Scope, customerId: CustomerId, taxIds: readonly TaxId[]) =>
  replaceTaxes(scope, 'customer', { holderId: customerId, taxIds });

/** Gives a billing entity exactly these taxes. */
export const replaceBillingEntityTaxes = (scope: Scope, billingEntityId: BillingEntityId, taxIds: readonly TaxId[]) =>
  replaceTaxes(scope, 'billing_entity', { holderId: billingEntityId, taxIds });

/** Gives a plan exactly these taxes. */
export const replacePlanTaxes = (scope: Scope, planId: PlanId, taxIds: readonly TaxId[]) =>
  replaceTaxes(scope, 'plan', { holderId: planId, taxIds });

/** Gives an add-on exactly these taxes. */
export const replaceAddOnTaxes = (scope: Scope, addOnId: AddOnId, taxIds: readonly TaxId[]) =>
  replaceTaxes(scope, 'add_on', { holderId: addOnId, taxIds });

/** Gives a minimum commitment exactly these taxes. */
export const replaceCommitmentTaxes = (scope: Scope, commitmentId: CommitmentId, taxIds: readonly TaxId[]) =>
  replaceTaxes(scope, 'commitment', { holderId: commitmentId, taxIds });

async function replaceTaxes(
  { db, organizationId }: Scope,
  holder: TaxHolder,
  { holderId, taxIds }: { holderId: string; taxIds: readonly TaxId[] },
): Promise<void> {
  const table = db(`${holder}_taxes`);
  const key = db(`${holder}_id`);
  await db`
    with gone as (
      delete from ${table}
      where organization_id = ${organizationId} and ${key} = ${holderId} and tax_id <> all (${taxIds}::uuid[])
    ), stored as (
      insert into ${table} (organization_id, ${key}, tax_id)
      select ${organizationId}::uuid, ${holderId}::uuid, tax_id from unnest(${taxIds}::uuid[]) as tax_id
      on conflict do nothing
      returning true
    )
    select count(*) from stored`;
}
