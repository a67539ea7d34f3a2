import type { Db } from '../../../../platform/db/connect.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import type { ChargeId, ExternalSubscriptionId, FeeId } from '../../../../platform/ids.ts';
import type { FeeRow } from '../../../invoices/fees/queries.ts';

/** The fee of each event under a charge, by transaction id; of a regenerated invoice the fee that counts. */
export async function listFeesOfEvents(
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  { chargeId, transactionIds }: { chargeId: ChargeId; transactionIds: readonly string[] },
): Promise<Map<string, string>> {
  const rows = await db<{ transaction_id: string; fee_id: FeeId }[]>`
    select fee.event_transaction_id as transaction_id, coalesce(copy.id, fee.id) as fee_id
    from fees fee
    left join lateral (
      select copy.id
      from fees copy
      join invoices invoice on invoice.organization_id = copy.organization_id and invoice.id = copy.invoice_id
        and invoice.status not in ('voided', 'deleted')
      where copy.organization_id = fee.organization_id and copy.original_fee_id = fee.id and copy.deleted_at is null
      order by copy.id desc
      limit 1
    ) copy on true
    where fee.organization_id = ${organizationId} and fee.external_subscription_id = ${externalSubscriptionId}
      and fee.charge_id = ${chargeId} and fee.event_transaction_id = any (${transactionIds})
      and fee.original_fee_id is null and fee.deleted_at is null`;
  return new Map(rows.map(({ transaction_id, fee_id }) => [transaction_id, fee_id]));
}

/** Whether a correction has settled something about a standalone `fee`: it may have deleted it. */
export const isCorrected = (db: Db) => db`
  exists (
    select from correction_adjustments adjustment
    join event_corrections correction on correction.organization_id = adjustment.organization_id
      and correction.id = adjustment.correction_id and not correction.dry_run and correction.policy <> 'ignore'
    where adjustment.organization_id = fee.organization_id and adjustment.fee_id = fee.id
      and adjustment.invoice_id is null)`;

/** The last fee of each event that corrections deleted without a replacement, by transaction id. */
export async function listTakenOff(
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  { chargeId, transactionIds }: { chargeId: ChargeId; transactionIds: readonly string[] },
): Promise<Map<string, string>> {
  if (transactionIds.length === 0) return new Map();
  const rows = await db<{ transaction_id: string; fee_id: FeeId; is_taken_off: boolean }[]>`
    select distinct on (fee.event_transaction_id) fee.event_transaction_id as transaction_id, fee.id as fee_id,
      fee.deleted_at is not null and ${isCorrected(db)} as is_taken_off
    from fees fee
    where fee.organization_id = ${organizationId} and fee.external_subscription_id = ${externalSubscriptionId}
      and fee.charge_id = ${chargeId} and fee.event_transaction_id = any (${transactionIds})
      and fee.original_fee_id is null and not fee.invoiceable
    order by fee.event_transaction_id, fee.id desc`;
  return new Map(
    rows.flatMap(({ transaction_id, fee_id, is_taken_off }) => (is_taken_off ? [[transaction_id, fee_id]] : [])),
  );
}

/** Which of some fees corrections have settled, on invoices or standalone, or have left as they were. */
export async function listSettledFees({ db, organizationId }: Scope, feeIds: readonly FeeId[]): Promise<Set<string>> {
  if (feeIds.length === 0) return new Set();
  const rows = await db<{ id: FeeId }[]>`
    select fee.id from fees fee
    where fee.organization_id = ${organizationId} and fee.id = any (${feeIds}::uuid[]) and exists (
      select from correction_adjustments adjustment
      where adjustment.organization_id = ${organizationId}
        and (adjustment.settled_amount_cents <> 0 or adjustment.left_amount_cents <> 0)
        and (adjustment.invoice_id is null and adjustment.fee_id = fee.id or adjustment.invoice_id in (
          -- Also of the invoices in whose place its own was made.
          select same.invoice_id from fees same
          where same.organization_id = ${organizationId} and (same.id = coalesce(fee.original_fee_id, fee.id)
            or same.original_fee_id = coalesce(fee.original_fee_id, fee.id)))))`;
  return new Set(rows.map(({ id }) => id));
}

/** Locks fees in the order of their ids and returns the current payment of those that still count. */
export async function lockFees(
  { db, organizationId }: Scope,
  feeIds: readonly FeeId[],
): Promise<Map<string, Pick<FeeRow, 'payment_status' | 'invoice_id'>>> {
  if (feeIds.length === 0) return new Map();
  const rows = await db<Pick<FeeRow, 'id' | 'payment_status' | 'invoice_id'>[]>`
    select id, payment_status, invoice_id from fees
    where organization_id = ${organizationId} and id = any (${feeIds}::uuid[]) and deleted_at is null
    order by id
    for update`;
  return new Map(rows.map((row) => [row.id, row]));
}
