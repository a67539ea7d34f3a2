import type { Decimal } from '../../../engine/money/decimal.ts';
import { chooseTaxes, type FeeType } from '../../../engine/taxes/choose-taxes.ts';
import type { Tax } from '../../../engine/taxes/tax.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, ChargeId, CustomerId, FixedChargeId, PlanId } from '../../../platform/ids.ts';

/** A tax with the record that supplies it. */
export type HeldTax = Tax & {
  /** The plan's id for the tax of a minimum commitment. */
  holder: 'charge' | 'fixed_charge' | 'commitment' | 'plan' | 'customer' | 'billing_entity';
  holder_id: string;
  rate: Decimal;
};

/**
 * Taxes of some charges, fixed charges, plans, a customer and its billing entity, oldest first: one statement. None for
 * a customer whom a tax engine taxes, since what it will collect is not known.
 *
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export const listHeldTaxes = (
  { db, organizationId }: Scope,
  holders: {
    chargeIds: readonly ChargeId[];
    fixedChargeIds?: readonly FixedChargeId[];
    planIds: readonly PlanId[];
    customerId: CustomerId;
    billingEntityId: BillingEntityId;
  },
) => db<HeldTax[]>`
  select tax.id, tax.code, tax.name, tax.description, tax.rate, held.holder, held.holder_id
  from (
    select 'charge' as holder, charge_id as holder_id, tax_id from charge_taxes
    where organization_id = ${organizationId} and charge_id = any (${holders.chargeIds}::uuid[])
    union all
    select 'fixed_charge', fixed_charge_id, tax_id from fixed_charge_taxes
    where organization_id = ${organizationId}
      and fixed_charge_id = any (${holders.fixedChargeIds ?? []}::uuid[])
    union all
    select 'plan', plan_id, tax_id from plan_taxes
    where organization_id = ${organizationId} and plan_id = any (${holders.planIds}::uuid[])
    union all
    select 'commitment', commitment.plan_id, link.tax_id from minimum_commitments commitment
    join commitment_taxes link
      on link.organization_id = commitment.organization_id and link.commitment_id = commitment.id
    where commitment.organization_id = ${organizationId}
      and commitment.plan_id = any (${holders.planIds}::uuid[])
    union all
    select 'customer', customer_id, tax_id from customer_taxes
    where organization_id = ${organizationId} and customer_id = ${holders.customerId}
    union all
    select 'billing_entity', billing_entity_id, tax_id from billing_entity_taxes
    where organization_id = ${organizationId} and billing_entity_id = ${holders.billingEntityId}
  ) held
  join taxes tax on tax.organization_id = ${organizationId} and tax.id = held.tax_id and tax.deleted_at is null
  where not exists (select from integration_customers link
    where link.organization_id = ${organizationId} and link.customer_id = ${holders.customerId}
      and link.category = 'tax')
  order by tax.created_at, tax.id`;

/**
 * Taxes of a fee among those held by its charge, its plan, the customer and the customer's billing entity.
 * Rule: taxes.md#which-taxes-apply.
 */
export function taxesOfFee(
  held: readonly HeldTax[],
  feeType: FeeType,
  owner: { chargeId?: ChargeId | undefined; fixedChargeId?: FixedChargeId | undefined; planId: PlanId },
): readonly HeldTax[] {
  const of = (holder: HeldTax['holder'], id?: string) =>
    held.filter((tax) => tax.holder === holder && (id === undefined || tax.holder_id === id));
  return chooseTaxes(feeType, {
    own: [
      ...(owner.chargeId === undefined ? [] : of('charge', owner.chargeId)),
      ...(owner.fixedChargeId === undefined ? [] : of('fixed_charge', owner.fixedChargeId)),
      ...(feeType === 'commitment' ? of('commitment', owner.planId) : []),
    ],
    plan: of('plan', owner.planId),
    customer: of('customer'),
    billingEntity: of('billing_entity'),
  });
}
