import { columnsOf } from '../../../platform/db/rows.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PricingUnitId } from '../../../platform/ids.ts';
import { column, orNull, type RowOf } from '../../../platform/schema/columns.ts';

/** A pricing unit as it is stored and shown. Rule: other-routes.md#records. */
export const pricingUnits = {
  name: 'pricing_unit',
  table: 'pricing_units',
  columns: {
    id: column.idOf<PricingUnitId>(),
    code: column.text,
    name: column.text,
    short_name: column.text,
    description: orNull(column.text),
    created_at: column.instant,
    updated_at: column.instant,
  },
};
export type PricingUnitRow = RowOf<typeof pricingUnits>;

/** The live pricing units among some codes, kept from being deleted until the transaction ends. */
export const lockPricingUnitsByCode = ({ db, organizationId }: Scope, codes: readonly string[]) =>
  db<PricingUnitRow[]>`
    select ${columnsOf(db, pricingUnits)} from pricing_units pricing_unit
    where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null
    for key share`;

export async function isPricingUnitUsed({ db, organizationId }: Scope, id: PricingUnitId): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from charges where organization_id = ${organizationId} and pricing_unit_id = ${id} and deleted_at is null
    ) as found`;
  return row!.found;
}
