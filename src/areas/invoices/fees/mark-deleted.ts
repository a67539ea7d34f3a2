import type { Context } from '../../../platform/context.ts';
import type { FeeId } from '../../../platform/ids.ts';

/** Marks a fee on no invoice as deleted; a tax engine that recorded it follows. */
export async function markFeeDeleted(ctx: Context, id: FeeId): Promise<void> {
  await ctx.db`
    update fees set deleted_at = ${ctx.now()}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${id}`;
  oweFeeTaxes(ctx, id);
}

/** A tax engine that recorded the fee follows. Rule: tax-engines.md#one-record. */
export const oweFeeTaxes = (ctx: Context, id: FeeId): void =>
  ctx.after({ step: 'follow-fee-taxes', payload: { fee_id: id } });
