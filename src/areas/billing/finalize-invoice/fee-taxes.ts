import { chooseTaxes } from '../../../engine/taxes/choose-taxes.ts';
import type { Tax } from '../../../engine/taxes/tax.ts';
import type { Context } from '../../../platform/context.ts';
import { listTaxesById, listTaxesOfAddOns } from '../../catalog/taxes/queries.ts';
import { listHeldTaxes, taxesOfFee } from '../../usage/usage/fee-taxes.ts';
import type { PayerFacts } from '../build-invoice/payer-and-issuer.ts';
import type { StoredFee } from './pending-invoices.ts';

/**
 * The taxes of stored fees, by id. A fee that has taxes keeps them because it named them itself.
 * Rule: taxes.md#which-taxes-apply.
 */
export async function taxesOfStoredFees(
  ctx: Context,
  payer: PayerFacts,
  fees: readonly StoredFee[],
): Promise<Map<string, readonly Tax[]>> {
  const present = (ids: readonly (string | null)[]) => [...new Set(ids.filter((id): id is string => id !== null))];
  const [kept, ofAddOns, held] = await Promise.all([
    listTaxesById(ctx, present(fees.flatMap(({ tax_ids }) => tax_ids))),
    listTaxesOfAddOns(ctx, present(fees.map(({ add_on_id }) => add_on_id))),
    listHeldTaxes(ctx, {
      chargeIds: present(fees.map(({ charge_id }) => charge_id)),
      fixedChargeIds: present(fees.map(({ fixed_charge_id }) => fixed_charge_id)),
      planIds: present(fees.map(({ plan_id }) => plan_id)),
      customerId: payer.id,
      billingEntityId: payer.billing_entity_id,
    }),
  ]);
  const taxesOf = (fee: StoredFee): readonly Tax[] => {
    if (fee.tax_ids.length > 0) return kept.filter(({ id }) => fee.tax_ids.includes(id));
    if (fee.plan_id !== null)
      return taxesOfFee(held, fee.fee_type, {
        chargeId: fee.charge_id ?? undefined,
        fixedChargeId: fee.fixed_charge_id ?? undefined,
        planId: fee.plan_id,
      });
    return chooseTaxes<Tax>(fee.fee_type, {
      own: ofAddOns.filter(({ add_on_id }) => add_on_id === fee.add_on_id),
      customer: held.filter(({ holder }) => holder === 'customer'),
      billingEntity: held.filter(({ holder }) => holder === 'billing_entity'),
    });
  };
  return new Map(fees.map((fee) => [fee.id, taxesOf(fee)]));
}
