import type { Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { FeeId } from '../../../platform/ids.ts';

/**
 * `copied`, as SQL: the fees that `which` says of `fee`, and those of voided invoices of which they are copies that a
 * regeneration left unchanged; `copy_id` is the fee itself.
 */
export const copiedFees = ({ db, organizationId }: Scope, which: Fragment) => db`
  with recursive copied as (
    select fee.id, fee.id as copy_id from fees fee where fee.organization_id = ${organizationId} and ${which}
    union
    select (stored.inputs #>> '{facts,fee_id}')::uuid, copied.copy_id
    from copied
    join fee_inputs stored on stored.organization_id = ${organizationId} and stored.fee_id = copied.id
    where stored.inputs #>> '{facts,kind}' = 'copied'
  )`;

/** The same for fees by their ids: by each fee the one that is its copy, or itself. */
export async function readCopies(scope: Scope, feeIds: readonly FeeId[]): Promise<ReadonlyMap<FeeId, FeeId>> {
  const rows = await scope.db<{ id: FeeId; copy_id: FeeId }[]>`
    ${copiedFees(scope, scope.db`fee.id = any (${feeIds}::uuid[])`)}
    select id, copy_id from copied order by copy_id`;
  return new Map(rows.map(({ id, copy_id }) => [id, copy_id]));
}
