import type { Scope } from '../../../platform/db/scope.ts';
import type { FeeId } from '../../../platform/ids.ts';

/**
 * These fees and those of progressive invoices that they took over, on along the progressive invoices of the period.
 *
 * Rule: progressive-billing.md#taken-over.
 */
export async function withProgressiveFees({ db, organizationId }: Scope, feeIds: readonly FeeId[]): Promise<FeeId[]> {
  const rows = await db<{ id: FeeId }[]>`
    with recursive reached as (
      select id, progressive_parts from fees
      where organization_id = ${organizationId} and id = any (${feeIds}::uuid[])
      union
      select fee.id, fee.progressive_parts
      from reached
      cross join lateral jsonb_to_recordset(reached.progressive_parts) as part (fee_id uuid)
      join fees fee on fee.organization_id = ${organizationId} and fee.id = part.fee_id
    )
    select id from reached`;
  return rows.map(({ id }) => id);
}
