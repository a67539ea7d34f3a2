import type { Context } from '../../../platform/context.ts';
import { contractOf } from '../../../platform/payments/contract-providers.ts';
import type { ProviderError } from '../../../platform/payments/port.ts';
import { isPaidOnPages } from '../../../platform/payments/unstored-kinds.ts';
import type { CustomerRow } from '../../customers/customers/queries.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { recordInvoiceFailure } from '../payments/announce-failure.ts';

const ACTION_REQUIRED: ProviderError = {
  code: 'customer_action_required',
  message: 'Nothing can be charged: the customer has to pay on a page.',
};

/**
 * Announces, once for an invoice, that its customer pays on a page only, unless such a page was asked for already. The
 * invoice is locked. Rule: payments.md#charged-on-line.
 */
export async function announceActionRequired(ctx: Context, invoice: InvoiceRow, customer: CustomerRow): Promise<void> {
  const { payment_provider: name, provider_payment_methods: kinds } = customer;
  if (name === null || !contractOf(name).offersKindsOfMethod || !isPaidOnPages(kinds)) return;
  const first = await ctx.db`
    update invoices set action_required_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${invoice.id} and action_required_at is null
      and not exists (
        select from payment_pages page
        where page.organization_id = invoices.organization_id and page.closed_at is null
          and page.expires_at > ${ctx.now()}
          and (page.payable_id = invoices.id or page.payable_id in (
            select asked.payment_request_id from payment_request_invoices asked
            where asked.organization_id = invoices.organization_id and asked.invoice_id = invoices.id)))
    returning id`;
  if (first.length > 0) await recordInvoiceFailure(ctx, invoice, ACTION_REQUIRED);
}
