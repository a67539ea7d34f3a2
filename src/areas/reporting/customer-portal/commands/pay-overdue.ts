import type { Context } from '../../../../platform/context.ts';
import type { CustomerId, InvoiceId, PaymentRequestId } from '../../../../platform/ids.ts';
import { dueCents } from '../../../invoices/invoices/amount-due.ts';
import { listInvoicesByIds } from '../../../invoices/invoices/queries.ts';
import { makeRequest } from '../../../payments/payment-requests/make-request.ts';
import { isPaymentUnderWay } from '../../../payments/payments/queries.ts';
import { lockPayables } from '../../../payments/payments/writes.ts';
import { lockAllowed } from './allowed.ts';
import { done, type PortalOutcome, refused } from './outcome.ts';

/** How many invoices one request holds: all are locked and shown together. */
const MOST = 1000;

/**
 * A payment request of all that is overdue with one issuer in one currency, which the customer pays on a page: no
 * method is charged for it, and no mail goes out. An open request over just these invoices is used again.
 *
 * Rule: portal.md#commands.
 */
export async function payOverdue(
  ctx: Context,
  input: { customer_id: CustomerId; currency: string; billing_entity: string },
): Promise<PortalOutcome> {
  const { customer } = await lockAllowed(ctx, input.customer_id, 'pay');
  const ids = await listOverdue(ctx, input);
  if (ids.length === 0) return refused({ form: 'notNow' });
  await lockPayables(ctx, customer.id, ids);
  if (await isPaymentUnderWay(ctx, ids)) return refused({ form: 'notNow' });
  const open = await findOpenRequest(ctx, customer.id, ids);
  if (open !== undefined) return done({ svc_payment_request_id: open });
  const invoices = await listInvoicesByIds(ctx, ids);
  const request = await makeRequest(ctx, customer, invoices, { email: customer.email, isPaidOnPage: true });
  return done({ svc_payment_request_id: request.id });
}

async function listOverdue(
  { db, organizationId }: Context,
  { customer_id, currency, billing_entity }: { customer_id: CustomerId; currency: string; billing_entity: string },
): Promise<InvoiceId[]> {
  const rows = await db<{ id: InvoiceId }[]>`
    select invoice.id
    from invoices invoice
    join billing_entities entity
      on entity.organization_id = invoice.organization_id and entity.id = invoice.billing_entity_id
    where invoice.organization_id = ${organizationId} and invoice.customer_id = ${customer_id}
      and invoice.status = 'finalized' and invoice.payment_status <> 'succeeded' and invoice.payment_overdue
      and invoice.ready_for_payment_processing and not invoice.self_billed and ${dueCents(db, 'invoice')} > 0
      and invoice.currency = ${currency} and entity.code = ${billing_entity}
    order by invoice.issuing_date, invoice.id limit ${MOST}`;
  return rows.map(({ id }) => id);
}

/** The newest request that is not paid and asks for just these invoices. */
async function findOpenRequest(
  { db, organizationId }: Context,
  customerId: CustomerId,
  invoiceIds: readonly InvoiceId[],
): Promise<PaymentRequestId | undefined> {
  const [row] = await db<{ id: PaymentRequestId }[]>`
    select request.id
    from payment_requests request
    where request.organization_id = ${organizationId} and request.customer_id = ${customerId}
      and request.payment_status <> 'succeeded'
      and (select array_agg(asked.invoice_id order by asked.invoice_id) from payment_request_invoices asked
        where asked.organization_id = ${organizationId} and asked.payment_request_id = request.id)
        = array(select id from unnest(${invoiceIds}::uuid[]) as wanted (id) order by id)
    order by request.created_at desc, request.id desc
    limit 1`;
  return row?.id;
}
