import type { Scope } from '../../../platform/db/scope.ts';
import type { FeeId } from '../../../platform/ids.ts';

/** Fees of progressive invoices that other fees took over. */
export interface TakenOver {
  /** Those that stand. */
  feeIds: FeeId[];
  /** Each fee that is named as taken over, with the one that stands: that of an invoice made anew from its own. */
  standsFor: ReadonlyMap<FeeId, FeeId>;
}

/**
 * The fees of progressive invoices that fees took over, on along the progressive invoices of the period. Of an invoice
 * that was voided and made anew they are the new ones.
 *
 * Rule: progressive-billing.md#taken-over.
 */
export async function readTakenOver({ db, organizationId }: Scope, feeIds: readonly FeeId[]): Promise<TakenOver> {
  const rows = await db<{ id: FeeId; named_id: FeeId }[]>`
    with recursive reached as (
      select id, null::uuid as named_id, progressive_parts from fees
      where organization_id = ${organizationId} and id = any (${feeIds}::uuid[])
      union
      select standing.id, part.fee_id, standing.progressive_parts
      from reached
      cross join lateral jsonb_to_recordset(reached.progressive_parts) as part (fee_id uuid)
      join fees named on named.organization_id = ${organizationId} and named.id = part.fee_id
      cross join lateral (
        select fee.id, fee.progressive_parts
        from fees fee
        join invoices invoice on invoice.organization_id = fee.organization_id and invoice.id = fee.invoice_id
        where fee.organization_id = ${organizationId} and fee.deleted_at is null
          and (fee.id = named.id or fee.original_fee_id = coalesce(named.original_fee_id, named.id))
        order by invoice.status in ('voided', 'closed', 'deleted'), fee.id = named.id desc, fee.id desc
        limit 1
      ) standing
    )
    select id, named_id from reached where named_id is not null`;
  return {
    feeIds: [...new Set(rows.map(({ id }) => id))].filter((id) => !feeIds.includes(id)),
    standsFor: new Map(rows.map(({ id, named_id }) => [named_id, id])),
  };
}
