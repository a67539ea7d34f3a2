import type { PaymentStatus } from '../../../engine/invoices/invoice-states.ts';
import type { Context } from '../../../platform/context.ts';
import { resetCounter } from '../dunning-campaigns/dunning-counters.ts';
import { recordRequest } from './announce.ts';
import { getRequest, type RequestRow } from './queries.ts';

/**
 * Sets the payment status of a request, which follows its charge; a succeeded one is final. Success of a campaign's
 * request resets the customer's counters. Rules: payment-requests.md#payment-requests, payment-requests.md#dunning.
 */
export async function setRequestStatus(ctx: Context, request: RequestRow, status: PaymentStatus): Promise<void> {
  const { db, organizationId } = ctx;
  if (request.payment_status === 'succeeded') return;
  await db`
    update payment_requests set payment_status = ${status}, ready_for_payment_processing = ${status === 'failed'},
      updated_at = ${ctx.now()}
    where organization_id = ${organizationId} and id = ${request.id}`;
  if (status === request.payment_status) return;
  if (status === 'succeeded' && request.dunning_campaign_id !== null)
    await resetCounter(ctx, request.customer_id, request.amount_currency);
  await recordRequest(ctx, 'payment_request.payment_status_updated', await getRequest(ctx, request.id));
}
