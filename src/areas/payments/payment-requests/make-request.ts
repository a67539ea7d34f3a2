import type { Context } from '../../../platform/context.ts';
import { columnValues } from '../../../platform/db/values.ts';
import type { DunningCampaignId, PaymentMethodId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { CustomerRow } from '../../customers/customers/queries.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { recordRequest } from './announce.ts';
import { getRequest, type RequestRow } from './queries.ts';

/** Charges the amount of a request, or sends its link. */
export const COLLECT_REQUEST_STEP = 'collect-payment-request';

export interface RequestWish {
  email: string | null;
  paymentMethodType?: string | null;
  paymentMethodId?: PaymentMethodId | null;
  dunningCampaignId?: DunningCampaignId;
  /** Which attempt of the campaign it is, from 1. */
  dunningAttempt?: number;
  /** Its customer goes on to its page: no method is charged and no mail is sent. */
  isPaidOnPage?: boolean;
}

/**
 * Stores a payment request over invoices, announces it and owes its charge. Rule: payment-requests.md#payment-requests.
 */
export async function makeRequest(
  ctx: Context,
  customer: CustomerRow,
  invoices: readonly InvoiceRow[],
  wish: RequestWish,
): Promise<RequestRow> {
  const { db, organizationId } = ctx;
  const id = newId();
  const first = invoices[0]!;
  const amountCents = invoices.reduce((total, invoice) => total + dueOf(invoice), 0);
  await db`
    insert into payment_requests ${db(
      columnValues({
        id,
        organization_id: organizationId,
        customer_id: customer.id,
        billing_entity_id: first.billing_entity_id,
        amount_cents: amountCents,
        amount_currency: first.currency,
        email: wish.email,
        payment_method_type: wish.paymentMethodType ?? null,
        payment_method_id: wish.paymentMethodId ?? null,
        dunning_campaign_id: wish.dunningCampaignId ?? null,
        dunning_attempt: wish.dunningAttempt ?? null,
        created_at: ctx.now(),
        updated_at: ctx.now(),
      }),
    )}`;
  await db`
    insert into payment_request_invoices (organization_id, payment_request_id, invoice_id)
    select ${organizationId}::uuid, ${id}::uuid, invoice_id
    from unnest(${invoices.map((invoice) => invoice.id)}::uuid[]) as invoice_id`;
  const request = await getRequest(ctx, id);
  await recordRequest(ctx, 'payment_request.created', request);
  if (!wish.isPaidOnPage) ctx.after({ step: COLLECT_REQUEST_STEP, payload: { payment_request_id: id } });
  return request;
}
