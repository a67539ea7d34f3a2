import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import { type CustomerRow, readCustomer } from '../../customers/customers/queries.ts';
import { drawUnasked } from '../../messaging/documents/ask-for-document.ts';
import { urlsOf } from '../../messaging/documents/document-urls.ts';
import { oweEDocument, oweMail } from '../../messaging/mails/owe-mail.ts';
import { type InvoiceRow, readInvoice } from './queries.ts';
import { partsOf } from './show-invoice.ts';
import { type InvoiceParts, invoiceListView, invoiceView } from './view.ts';

/** Above this number the audit trail leaves fees out (logs.md#activity-logs). */
const MOST_LOGGED_FEES = 25;

type Shown = ReturnType<typeof invoiceView>;

/** Parts of an invoice that the webhook of a type omits. Rule: webhooks.md#event-types. */
const LEFT_OUT = {
  'invoice.created': [],
  'invoice.drafted': [],
  'invoice.ready_to_finalize': [],
  'invoice.paid_credit_added': ['subscriptions', 'billing_periods', 'credits'],
  'invoice.one_off_created': ['subscriptions', 'billing_periods', 'credits'],
  'invoice.voided': [],
  'invoice.deleted': [],
  'invoice.regenerated': [],
  'invoice.payment_failure': [],
  'invoice.written_off': [],
  'invoice.write_off_reversed': [],
  'invoice.payment_overdue': ['subscriptions', 'billing_periods', 'credits'],
  'invoice.payment_status_updated': ['subscriptions', 'billing_periods', 'credits', 'applied_taxes'],
} as const satisfies Record<string, readonly (keyof Shown)[]>;

/** Logged, but not announced, or with an object of its own. */
const UNTOLD: ReadonlySet<string> = new Set([
  'invoice.regenerated',
  'invoice.payment_failure',
  'invoice.written_off',
  'invoice.write_off_reversed',
]);

/** Announced when an invoice becomes final. */
const FINAL: ReadonlySet<string> = new Set(['invoice.created', 'invoice.one_off_created', 'invoice.paid_credit_added']);

/**
 * Writes an invoice's state into the audit trail and sends its webhook.
 *
 * @param before of an update: what the audit trail compares with
 * @param customer as it was read in this transaction already
 * Rules: webhooks.md#event-types, logs.md#activity-logs.
 */
export async function recordInvoice(
  ctx: Context,
  type: keyof typeof LEFT_OUT,
  invoiceId: InvoiceId,
  { before, customer }: { before?: Shown; customer?: CustomerRow | undefined } = {},
): Promise<void> {
  const invoice = await readInvoice(ctx, invoiceId);
  const parts = await partsOf(ctx, invoice, customer);
  const object = invoiceView(parts, ctx.now());
  if (FINAL.has(type) && invoice.status === 'finalized') await oweDocuments(ctx, parts);
  ctx.record({
    activity: {
      type,
      resourceType: 'Invoice',
      resourceId: invoiceId,
      object: logged(object),
      ...(before === undefined ? {} : { changes: changedKeys(before, object) }),
      externalCustomerId: parts.customer.external_id,
    },
    ...(UNTOLD.has(type)
      ? {}
      : {
          webhook: {
            type,
            objectType: 'invoice',
            objectId: invoiceId,
            customerId: invoice.customer_id,
            object: without(object, LEFT_OUT[type]),
          },
        }),
  });
}

/** What follows from an invoice that became final: its mail, its electronic document, its page. */
async function oweDocuments(ctx: Context, { invoice, customer }: InvoiceParts): Promise<void> {
  const { id, number } = invoice;
  if (invoice.email_settings.includes('invoice.finalized')) oweMail(ctx, { kind: 'invoice', subject_id: id });
  if (wantsEDocument(invoice, customer)) oweEDocument(ctx, { kind: 'invoice', subject_id: id });
  if (ctx.config.DRAW_UNASKED) await drawUnasked(ctx, { kind: 'invoice', subjectId: id, number });
}

/** Whether the seller, or the customer, has electronic documents made. Rule: e-documents.md#profiles. */
const wantsEDocument = (invoice: InvoiceRow, customer: Pick<CustomerRow, 'e_document_profile'>): boolean =>
  invoice.wants_e_documents || customer.e_document_profile !== null;

/**
 * Announces that a dispute was lost; the audit trail has no such entry. The object is the invoice itself, as
 * the contract has it. Rules: webhooks.md#event-types, logs.md#activity-logs.
 */
export async function recordDisputeLost(ctx: Context, invoiceId: InvoiceId): Promise<void> {
  const invoice = await readInvoice(ctx, invoiceId);
  ctx.record({
    webhook: {
      type: 'invoice.payment_dispute_lost',
      objectType: 'payment_dispute_lost',
      objectId: invoiceId,
      customerId: invoice.customer_id,
      object: invoiceView(await partsOf(ctx, invoice), ctx.now()),
    },
  });
}

/** Announces the document of an invoice with its address. Rule: webhooks.md#event-types `invoice.generated`. */
export async function recordInvoiceGenerated(ctx: Context, invoiceId: InvoiceId): Promise<void> {
  const invoice = await readInvoice(ctx, invoiceId);
  const customer = await readCustomer(ctx, invoice.customer_id);
  const urls = await urlsOf(ctx, invoice);
  const { metadata: _metadata, applied_taxes: _taxes, ...told } = { ...invoiceListView(invoice, customer), ...urls };
  const shown = { ...invoiceView(await partsOf(ctx, invoice, customer), ctx.now()), ...urls };
  ctx.record({
    activity: {
      type: 'invoice.generated',
      resourceType: 'Invoice',
      resourceId: invoiceId,
      object: logged(shown),
      externalCustomerId: customer.external_id,
    },
    webhook: {
      type: 'invoice.generated',
      objectType: 'invoice',
      objectId: invoiceId,
      customerId: invoice.customer_id,
      object: told,
    },
  });
}

/** An invoice as the audit trail keeps it. */
function logged(shown: Pick<Shown, 'fees'>): object {
  const { fees, ...withoutFees } = shown;
  return fees.length > MOST_LOGGED_FEES ? withoutFees : shown;
}

const without = (object: Shown, keys: readonly (keyof Shown)[]): object =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key as keyof Shown)));
