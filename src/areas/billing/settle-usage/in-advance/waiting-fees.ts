import type { Temporal } from 'temporal-polyfill';
import type { GroupedBy } from '../../../../engine/metrics/group-values.ts';
import type { Cents } from '../../../../engine/money/cents.ts';
import { type Decimal, decimal } from '../../../../engine/money/decimal.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import { json } from '../../../../platform/db/values.ts';
import type { ChargeFilterId, CorrectionId, FeeId, InvoiceId, SubscriptionId } from '../../../../platform/ids.ts';

/** What an event costs in a filter and group. */
export interface PricedPlace {
  charge_filter_id: ChargeFilterId | null;
  grouped_by: GroupedBy;
  amount_cents: Cents;
  units: Decimal;
}

/** A fee of a single event, with what it costs after a correction; null: the event counts no longer. */
export interface FeeToSettle {
  fee_id: FeeId;
  subscription_id: SubscriptionId;
  from_datetime: Temporal.Instant;
  to_datetime: Temporal.Instant;
  priced: PricedPlace | null;
}

/** One whose turn it is. */
export interface WaitingFee extends Omit<FeeToSettle, 'fee_id'> {
  correction_id: CorrectionId;
  turn: number;
  /** Of a regenerated invoice those that count. Null: the fee was deleted, since its invoice was never paid. */
  fee_id: FeeId | null;
  invoice_id: InvoiceId | null;
}

/** Keeps what a correction waits for by the first fee of those that were copied from one another. */
export async function insertWaitingFees(
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  fees: readonly FeeToSettle[],
): Promise<void> {
  if (fees.length === 0) return;
  await db`
    insert into correction_waiting_fees (organization_id, correction_id, fee_id, subscription_id, from_datetime,
      to_datetime, priced)
    select ${organizationId}::uuid, ${correctionId}::uuid, coalesce(fee.original_fee_id, fee.id), asked.subscription_id,
      asked.from_datetime, asked.to_datetime, asked.priced
    from jsonb_to_recordset(${json(fees)}::jsonb) as asked (fee_id uuid, subscription_id uuid,
      from_datetime timestamptz, to_datetime timestamptz, priced jsonb)
    join fees fee on fee.organization_id = ${organizationId} and fee.id = asked.fee_id`;
}

/**
 * What a correction and those before it have still to settle of the fees that it waits for, where their invoices are
 * issued, in the order of the turns. Failed corrections have no turn.
 */
export async function listIssuedTurns(
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
): Promise<WaitingFee[]> {
  const rows = await db<
    (Omit<WaitingFee, 'priced'> & { priced: (Omit<PricedPlace, 'units'> & { units: string }) | null })[]
  >`
    select waiting.correction_id, waiting.turn, standing.fee_id, standing.invoice_id, waiting.subscription_id,
      waiting.from_datetime, waiting.to_datetime, waiting.priced
    from correction_waiting_fees own
    join correction_waiting_fees waiting on waiting.organization_id = own.organization_id
      and waiting.fee_id = own.fee_id and waiting.settled_at is null and waiting.turn <= own.turn
    join event_corrections correction on correction.organization_id = waiting.organization_id
      and correction.id = waiting.correction_id
      and (correction.id = own.correction_id or correction.status in ('pending', 'applied'))
    left join lateral (
      select made.id as fee_id, invoice.id as invoice_id, invoice.status
      from fees made
      join invoices invoice on invoice.organization_id = made.organization_id and invoice.id = made.invoice_id
      where made.organization_id = own.organization_id and made.deleted_at is null
        and (made.id = own.fee_id or made.original_fee_id = own.fee_id)
      order by invoice.status in ('voided', 'deleted'), made.id desc
      limit 1
    ) standing on true
    where own.organization_id = ${organizationId} and own.correction_id = ${correctionId} and own.settled_at is null
      and coalesce(standing.status, 'deleted') not in ('draft', 'generating', 'open', 'pending', 'failed')
    group by waiting.correction_id, waiting.turn, standing.fee_id, standing.invoice_id, waiting.subscription_id,
      waiting.from_datetime, waiting.to_datetime, waiting.priced
    order by waiting.turn`;
  return rows.map((row) => ({ ...row, priced: row.priced && { ...row.priced, units: decimal(row.priced.units) } }));
}

/** Which of some fees corrections wait for. */
export async function listWaitedFor({ db, organizationId }: Scope, feeIds: readonly FeeId[]): Promise<Set<string>> {
  if (feeIds.length === 0) return new Set();
  const rows = await db<{ id: FeeId }[]>`
    select fee.id from fees fee
    where fee.organization_id = ${organizationId} and fee.id = any (${feeIds}::uuid[]) and exists (
      select from correction_waiting_fees waiting
      where waiting.organization_id = ${organizationId} and waiting.settled_at is null
        and waiting.fee_id in (fee.id, fee.original_fee_id))`;
  return new Set(rows.map(({ id }) => id));
}

/** Whether a correction still waits for a fee. */
export async function hasWaiting({ db, organizationId }: Scope, correctionId: CorrectionId): Promise<boolean> {
  const rows = await db`
    select from correction_waiting_fees
    where organization_id = ${organizationId} and correction_id = ${correctionId} and settled_at is null
    limit 1`;
  return rows.length > 0;
}

/** A turn of its own for what is settled at once. */
export async function takeTurn({ db }: Scope): Promise<number> {
  const [row] = await db<[{ turn: number }]>`
    select nextval(pg_get_serial_sequence('correction_waiting_fees', 'turn')) as turn`;
  return row.turn;
}

export const markFeeSettled = ({ db, organizationId }: Scope, turn: number, now: Temporal.Instant) => db`
  update correction_waiting_fees set settled_at = ${now}
  where organization_id = ${organizationId} and turn = ${turn} and settled_at is null`;
