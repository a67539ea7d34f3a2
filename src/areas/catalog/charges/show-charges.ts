import type { Scope } from '../../../platform/db/scope.ts';
import type { ChargeId } from '../../../platform/ids.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { listTaxesOfCharges, type TaxRow } from '../taxes/queries.ts';
import { type ChargeFilterRow, type ChargeRow, listFiltersOfCharges } from './queries.ts';

/** A charge with all that its JSON shows. */
export interface ChargeShown {
  charge: ChargeRow;
  /** In their order. */
  filters: ChargeFilterRow[];
  taxes: TaxRow[];
}

/**
 * What belongs to some charges, in their order: two statements, whatever their number.
 *
 * @param known taxes of all of them, when the caller has read them or reads them itself: one statement less
 */
export async function showCharges(
  scope: Scope,
  charges: readonly ChargeRow[],
  known?: readonly (TaxRow & { charge_id: ChargeId })[],
): Promise<ChargeShown[]> {
  if (charges.length === 0) return [];
  const ids = charges.map(({ id }) => id);
  const [filters, taxes] = await Promise.all([
    listFiltersOfCharges(scope, ids),
    known ?? listTaxesOfCharges(scope, ids),
  ]);
  const filtersOf = groupRows(filters, ({ charge_id }) => charge_id);
  const taxesOf = groupRows(taxes, ({ charge_id }) => charge_id);
  return charges.map((charge) => ({
    charge,
    filters: filtersOf.get(charge.id) ?? [],
    taxes: taxesOf.get(charge.id) ?? [],
  }));
}
