import type { Scope } from '../../../platform/db/scope.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { listTaxesOfFixedCharges, type TaxRow } from '../taxes/queries.ts';
import type { FixedChargeRow } from './queries.ts';

/** A fixed charge with all that its JSON shows. */
export interface FixedChargeShown {
  fixedCharge: FixedChargeRow;
  taxes: TaxRow[];
}

/** What belongs to some fixed charges, in their order: one statement, whatever their number. */
export async function showFixedCharges(
  scope: Scope,
  fixedCharges: readonly FixedChargeRow[],
): Promise<FixedChargeShown[]> {
  if (fixedCharges.length === 0) return [];
  const taxes = await listTaxesOfFixedCharges(
    scope,
    fixedCharges.map(({ id }) => id),
  );
  const taxesOf = groupRows(taxes, ({ fixed_charge_id }) => fixed_charge_id);
  return fixedCharges.map((fixedCharge) => ({ fixedCharge, taxes: taxesOf.get(fixedCharge.id) ?? [] }));
}
