import type { Db } from '../../../platform/db/connect.ts';
import { columnsOf } from '../../../platform/db/rows.ts';
import { type PricingUnitRow, pricingUnits } from './schema.ts';

/** The live pricing units among some codes, kept from being deleted until the transaction ends. */
export const lockPricingUnitsByCode = (db: Db, organizationId: string, codes: readonly string[]) =>
  db<PricingUnitRow[]>`
    select ${columnsOf(db, pricingUnits)} from pricing_units pricing_unit
    where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null
    for key share`;

export async function isPricingUnitUsed(db: Db, organizationId: string, id: string): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from charges where organization_id = ${organizationId} and pricing_unit_id = ${id} and deleted_at is null
    ) as found`;
  return row!.found;
}
