import type { Temporal } from 'temporal-polyfill';
import { VISIBLE_INVOICE_STATUSES } from '../../../engine/invoices/invoice-states.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { isUuid, newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { parseInstant } from '../../../platform/schema/instant-field.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { type InvoiceRow, readInvoice } from '../../invoices/invoices/queries.ts';
import { readPayment } from './queries.ts';
import type { PaymentCreate } from './schema.ts';
import { settlePayment } from './settle-payment.ts';
import { paymentView } from './view.ts';
import { insertPayment, lockPayables } from './writes.ts';

/** How many characters a reference may have. */
const REFERENCE_MAX = 40;

/**
 * Records a manual payment: it reduces the due amount, and an invoice with nothing left due is `succeeded`.
 *
 * @throws Refusal 404 invoice; 403, when the invoice is neither finalized nor open; 422 in the order of the rule
 * Rule: payments.md#manual-payment.
 */
export async function createPayment(ctx: Context, { body }: { body: PaymentCreate }) {
  const invoice = await lockPayable(ctx, body.invoice_id);
  if (invoice.status !== 'finalized' && invoice.status !== 'open') throw refuse.forbidden('feature_unavailable');
  const createdAt = paidAt(body.paid_at) ?? ctx.now();
  const reference = await checkedReference(ctx, invoice, body);
  const id = newId();
  await insertPayment(ctx, {
    id,
    customerId: invoice.customer_id,
    payable: { type: 'Invoice', id: invoice.id },
    type: 'manual',
    amountCents: body.amount_cents,
    currency: invoice.currency,
    status: 'succeeded',
    paymentStatus: 'succeeded',
    reference,
    invoiceIds: [invoice.id],
    createdAt,
    now: ctx.now(),
  });
  await settlePayment(ctx, await readPayment(ctx, id));
  const payment = await readPayment(ctx, id);
  const object = paymentView(payment);
  ctx.record({
    activity: {
      type: 'payment.recorded',
      resourceType: 'Invoice',
      resourceId: invoice.id,
      object,
      externalCustomerId: payment.external_customer_id,
    },
  });
  return { payment: object };
}

const PAYABLE: ReadonlySet<string> = new Set([...VISIBLE_INVOICE_STATUSES, 'open']);

async function lockPayable(ctx: Context, id: InvoiceId): Promise<InvoiceRow> {
  const found = isUuid(id) ? await readInvoice(ctx, id) : undefined;
  if (!found || !PAYABLE.has(found.status)) throw refuse.notFound('invoice');
  await lockPayables(ctx, found.customer_id, [found.id]);
  return readInvoice(ctx, found.id);
}

function paidAt(value: unknown): Temporal.Instant | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const at = parseInstant(String(value));
  if (!at) throw refuse.invalid({ paid_at: ['invalid_date'] });
  return at;
}

async function checkedReference(ctx: Context, invoice: InvoiceRow, body: PaymentCreate): Promise<string> {
  const faults: Record<string, string[]> = {};
  const reference = typeof body.reference === 'number' ? String(body.reference) : body.reference;
  if (typeof reference !== 'string' || reference.trim() === '') faults.reference = ['value_is_mandatory'];
  else if (reference.length > REFERENCE_MAX) faults.reference = ['value_is_too_long'];
  else if (!isStorable(reference)) faults.reference = ['invalid_format'];
  if (body.amount_cents > dueOf(invoice)) faults.amount_cents = ['value_is_out_of_range'];
  else if (invoice.invoice_type === 'credit' && body.amount_cents !== dueOf(invoice))
    faults.amount_cents = ['invalid_amount'];
  if (await isPaidByRequest(ctx, invoice.id)) faults.base = ['payment_request_is_already_succeeded'];
  refuseFaults(faults);
  return reference as string;
}

async function isPaidByRequest(ctx: Context, invoiceId: InvoiceId): Promise<boolean> {
  const [row] = await ctx.db`
    select from payment_request_invoices asked
    join payment_requests request on request.organization_id = asked.organization_id
      and request.id = asked.payment_request_id and request.payment_status = 'succeeded'
    where asked.organization_id = ${ctx.organizationId} and asked.invoice_id = ${invoiceId}
    limit 1`;
  return row !== undefined;
}
