import type { Scope } from '../../../platform/db/scope.ts';
import type { FeeId } from '../../../platform/ids.ts';

interface PartRow {
  fee_id: FeeId;
  billed_fee_id: FeeId;
  billed_amount_cents: number;
}

/** What progressive invoices had billed of a fee before, and by which fees. */
export interface ProgressivePart {
  cents: number;
  feeIds: readonly FeeId[];
}

/**
 * By which fees of progressive invoices the usage of fees was billed before: of those that their invoices were credited
 * with, and on along the progressive invoices of the period, the newest first.
 *
 * Rule: progressive-billing.md#credit-in-steps "same charge, filter and grouping".
 */
export async function readProgressiveParts(
  { db, organizationId }: Scope,
  feeIds: readonly FeeId[],
): Promise<Map<string, ProgressivePart>> {
  const rows = await db<PartRow[]>`
  with recursive part as (
    select null::uuid as fee_id, id as billed_fee_id, amount_cents as billed_amount_cents, 0 as step
    from fees where organization_id = ${organizationId} and id = any (${feeIds}::uuid[])
    union all
    select fee.id, billed.id, billed.amount_cents, part.step + 1
    from part
    join fees fee on fee.organization_id = ${organizationId} and fee.id = part.billed_fee_id and fee.fee_type = 'charge'
      and not fee.pay_in_advance and fee.correction_id is null and fee.true_up_parent_fee_id is null
    join credits credit on credit.organization_id = fee.organization_id and credit.invoice_id = fee.invoice_id
      and credit.progressive_billing_invoice_id is not null
    join fees billed on billed.organization_id = fee.organization_id
      and billed.invoice_id = credit.progressive_billing_invoice_id and billed.fee_type = 'charge'
      and billed.subscription_id = fee.subscription_id and billed.charge_id = fee.charge_id
      and billed.charge_filter_id is not distinct from fee.charge_filter_id and billed.grouped_by = fee.grouped_by
      and billed.deleted_at is null
  )
  select fee_id, billed_fee_id, billed_amount_cents from part where step > 0
    group by 1, 2, 3 order by min(step), billed_fee_id`;
  const parts = new Map<string, { cents: number; feeIds: FeeId[] }>();
  for (const { fee_id, billed_fee_id, billed_amount_cents } of rows) {
    const part = parts.get(fee_id) ?? { cents: 0, feeIds: [] };
    part.cents += billed_amount_cents;
    part.feeIds.push(billed_fee_id);
    parts.set(fee_id, part);
  }
  return parts;
}

/** These fees and then the progressive ones behind them, each once, in the order in which they are given back. */
export function withProgressive(parts: ReadonlyMap<string, ProgressivePart>, feeIds: readonly FeeId[]): string[] {
  const order = new Set(feeIds);
  // What is added while it is walked is walked too.
  for (const id of order) for (const before of parts.get(id)?.feeIds ?? []) order.add(before);
  return [...order];
}
