import { AmountOutOfRange } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { nested } from '../../../platform/records/nested.ts';
import { clearErrors, insertError } from '../../invoices/invoices/writes.ts';

const CODE = 'invoice_generation_error';
/** Error code of Postgres for a number that fits no column. */
const NUMERIC_VALUE_OUT_OF_RANGE = '22003';

/**
 * Notes on an invoice that it cannot be computed, and informs the operator: absurd units or prices make amounts that
 * overflow. The invoice and everything else of the customer stay unchanged. Rule: invoices.md#error-details.
 */
export async function noteGenerationError(ctx: Context, invoiceId: InvoiceId, error: Error): Promise<void> {
  await clearErrors(ctx, invoiceId, [CODE]);
  await insertError(ctx, {
    id: newId(),
    invoice_id: invoiceId,
    error_code: CODE,
    reason: 'amount_out_of_range',
    details: { message: error.message },
    created_at: ctx.now(),
  });
  ctx.log.error({ invoiceId, err: error }, 'invoice cannot be generated');
}

/** Whether an invoice failed because an amount overflows: trying again would not help. */
export const isUncomputable = (error: unknown): error is Error =>
  error instanceof AmountOutOfRange || (error as { code?: string }).code === NUMERIC_VALUE_OUT_OF_RANGE;

/**
 * Computes a draft again, or leaves it unchanged with the reason noted until something flags it again.
 *
 * @returns whether it could be computed
 */
export async function computedOrNoted(
  ctx: Context,
  invoiceId: InvoiceId,
  computeAnew: (own: Context) => Promise<unknown>,
): Promise<boolean> {
  try {
    await nested(ctx, computeAnew);
  } catch (error) {
    if (!isUncomputable(error)) throw error;
    await noteGenerationError(ctx, invoiceId, error);
    await ctx.db`
      update invoices set ready_to_be_refreshed = false
      where organization_id = ${ctx.organizationId} and id = ${invoiceId}`;
    return false;
  }
  await clearErrors(ctx, invoiceId, [CODE]);
  return true;
}
