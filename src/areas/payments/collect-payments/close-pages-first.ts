import type { Context } from '../../../platform/context.ts';
import type { InvoiceId, PaymentRequestId } from '../../../platform/ids.ts';
import { isAnyNamedByOpenEvent } from '../inbound-events/queries.ts';
import { closePagesOf } from '../payments/provider-pages.ts';

/** How long the report of a payment may take that was made just before its page ended. */
export const PAGE_PAYMENT_MINUTES = 10;

/** How long a page stays open at its provider, which may have opened it as late as when its row expired. */
export const PAGE_LIFE_HOURS = 24;

/** How old a page is at most whose payment is not handled yet: its own day, and a week of retries. */
const PAGE_DAYS = 8;

/**
 * Closes the pages on which invoices can be paid, alone or by a request that contains them, before they are charged
 * without their customer. The transaction holds the invoices locked, so that no page opens meanwhile.
 *
 * @returns whether a payment may still come from one of the pages: until its provider has ended it, for 10 minutes
 *   after that, and while an event that names one of them is not handled. The charge has to wait.
 * Rule: payments.md#payments-on-pages-come-first.
 */
export async function closePagesFirst(ctx: Context, invoiceIds: readonly InvoiceId[]): Promise<boolean> {
  const { db, organizationId } = ctx;
  const requests = await db<{ payment_request_id: PaymentRequestId }[]>`
    select distinct payment_request_id from payment_request_invoices
    where organization_id = ${organizationId} and invoice_id = any (${invoiceIds})`;
  const payableIds = [...invoiceIds, ...requests.map((request) => request.payment_request_id)];
  await closePagesOf(ctx, payableIds);
  // A page of a sandbox has no id there: it takes nothing once it is closed here.
  const [pages] = await db<{ is_known: boolean; is_payable: boolean }[]>`
    select count(*) > 0 as is_known,
      coalesce(bool_or(coalesce(ended_at, expires_at + make_interval(hours => ${PAGE_LIFE_HOURS}))
        > ${ctx.now().subtract({ minutes: PAGE_PAYMENT_MINUTES })}), false)
        as is_payable
    from payment_pages
    where organization_id = ${organizationId} and payable_id = any (${payableIds}) and provider_page_id is not null
      and created_at > ${ctx.now().subtract({ hours: PAGE_DAYS * 24 })}`;
  if (!pages!.is_known) return false;
  return pages!.is_payable || (await isAnyNamedByOpenEvent(ctx, payableIds));
}
