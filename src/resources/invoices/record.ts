import type { Context } from '../../platform/context.ts';
import { readInvoice } from './queries.ts';
import { partsOf } from './show.ts';
import { invoiceView } from './view.ts';

/** Above this number the audit trail leaves fees out (platform H.1). */
const MOST_LOGGED_FEES = 25;

/** Writes an invoice's state into the audit trail and tells those who listen. Rules: platform G.1, H.1. */
export async function recordInvoice(
  ctx: Context,
  type: 'invoice.created' | 'invoice.drafted' | 'invoice.payment_overdue',
  invoiceId: string,
): Promise<void> {
  const invoice = await readInvoice(ctx.db, ctx.organizationId, invoiceId);
  const parts = await partsOf(ctx, invoice);
  const object = invoiceView(parts, ctx.now());
  const { fees, ...withoutFees } = object;
  ctx.record({
    activity: {
      type,
      resourceType: 'Invoice',
      resourceId: invoiceId,
      object: fees.length > MOST_LOGGED_FEES ? withoutFees : object,
      externalCustomerId: parts.customer.external_id,
    },
    webhook: {
      type,
      objectType: 'invoice',
      objectId: invoiceId,
      customerId: invoice.customer_id,
      object: type === 'invoice.payment_overdue' ? overdueObject(object) : object,
    },
  });
}

/** Parts that the webhook of an overdue invoice carries. */
const overdueObject = ({
  subscriptions: _subscriptions,
  billing_periods: _periods,
  credits: _credits,
  ...rest
}: ReturnType<typeof invoiceView>) => rest;
