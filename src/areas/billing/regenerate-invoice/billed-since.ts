import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, InvoiceId } from '../../../platform/ids.ts';
import { formerInvoices } from '../../invoices/invoices/former-invoices.ts';
import { firstInvoiceOf } from '../../usage/event-corrections/first-invoice.ts';

/**
 * Whether the usage of a voided progressive invoice was billed since by the next invoice of its period that stands, and
 * without a credit for it: to make it anew would bill this usage twice.
 *
 * Rule: invoice-operations.md#regenerate.
 */
export async function isBilledSince(
  scope: Scope,
  source: { id: InvoiceId; customer_id: CustomerId },
): Promise<boolean> {
  const { db, organizationId } = scope;
  const [row] = await db<[{ is_billed: boolean }]>`
    ${formerInvoices(scope, source.id)}
    select exists (
      select from invoice_subscriptions own
      cross join lateral (
        select invoice.id
        from invoices invoice
        join invoice_subscriptions line on line.organization_id = invoice.organization_id
          and line.invoice_id = invoice.id
        where invoice.organization_id = ${organizationId} and invoice.customer_id = ${source.customer_id}
          and invoice.status in ('pending', 'open', 'finalized', 'failed')
          and line.subscription_id = own.subscription_id
          and line.charges_from_datetime < own.charges_to_datetime
          and line.charges_to_datetime > own.charges_from_datetime
          and line.invoicing_reason in ('progressive_billing', 'subscription_periodic', 'subscription_terminating')
          and (line.billed_at, ${firstInvoiceOf(db, db`invoice.id`)}) > (
            own.billed_at, (select id from former where voided_invoice_id is null))
        order by line.billed_at, ${firstInvoiceOf(db, db`invoice.id`)}
        limit 1
      ) next
      where own.organization_id = ${organizationId} and own.invoice_id = ${source.id}
        and not exists (select from credits
          where organization_id = ${organizationId} and invoice_id = next.id
            and progressive_billing_invoice_id in (select id from former))) as is_billed`;
  return row.is_billed;
}
