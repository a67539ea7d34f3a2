import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import { NoSeat } from '../../../platform/db/preview-tables.ts';
import { Refusal } from '../../../platform/refusal.ts';
import { InvoicePreview } from '../../invoices/invoices/preview-schema.ts';
import type { SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { previewEndOfTrial, previewInvoice } from './preview-invoice.ts';
import { TaxesWanted } from './preview-taxes.ts';

/**
 * What the next invoice of an active subscription comes to as of today's usage, in the smallest unit: the one that
 * `trialEndsAt` brings of a plan in advance, else that of its period or its end. Undefined where it cannot be told now:
 * a tax engine would have to be asked, other previews have all tables, or the period cannot be billed.
 *
 * Rule: mails.md#templates.
 */
export async function nextAmount(
  ctx: Context,
  subscription: SubscriptionShown,
  trialEndsAt: Temporal.Instant | undefined,
): Promise<number | undefined> {
  try {
    const { invoice } =
      trialEndsAt !== undefined && subscription.pay_in_advance
        ? await previewEndOfTrial(ctx, subscription, trialEndsAt)
        : await previewInvoice(ctx, { body: periodOf(subscription) });
    return invoice.total_amount_cents;
  } catch (error) {
    if (error instanceof Refusal || error instanceof NoSeat || error instanceof TaxesWanted) return undefined;
    throw error;
  }
}

const periodOf = ({ external_customer_id, external_id }: SubscriptionShown) =>
  InvoicePreview.parse({
    customer: { external_id: external_customer_id },
    subscriptions: { external_ids: [external_id] },
  });
