import type { Temporal } from 'temporal-polyfill';
import type { InvoiceStatus, PaymentStatus } from '../../../engine/invoices/invoice-states.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { columnValues, json } from '../../../platform/db/values.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { invoiceDueChanged } from '../announcements.ts';
import { getVisibleInvoice, type InvoiceMetadataJson, type InvoiceRow, readInvoice } from './queries.ts';

/**
 * An invoice, locked until the transaction ends, its customer locked first.
 *
 * @throws Refusal 404 invoice, when there is none that the API shows
 */
export async function lockVisibleInvoice(ctx: Context, id: InvoiceId): Promise<InvoiceRow> {
  const { db, organizationId } = ctx;
  const { customer_id } = await getVisibleInvoice(ctx, id);
  await db`
    select from customers where organization_id = ${organizationId} and id = ${customer_id} for no key update`;
  await db`select from invoices where organization_id = ${organizationId} and id = ${id} for update`;
  return getVisibleInvoice(ctx, id);
}

export interface InvoiceChange {
  status?: InvoiceStatus;
  payment_status?: PaymentStatus;
  payment_overdue?: boolean;
  payment_dispute_lost_at?: Temporal.Instant;
  ready_for_payment_processing?: boolean;
  total_paid_amount_cents?: number;
  total_written_off_amount_cents?: number;
  payment_attempts?: number;
  tax_status?: 'pending';
  voided_at?: Temporal.Instant;
  voided_with_notes?: boolean;
}

/** Changes columns of an invoice and gives it back as it then is; a change of what it owes is announced. */
export async function changeInvoice(ctx: Context, id: InvoiceId, change: InvoiceChange): Promise<InvoiceRow> {
  await ctx.db`
    update invoices set ${ctx.db(columnValues({ ...change, updated_at: ctx.now() }))}
    where organization_id = ${ctx.organizationId} and id = ${id}`;
  if (changesDue(change)) await announce(ctx, invoiceDueChanged, { invoice_id: id });
  return readInvoice(ctx, id);
}

const changesDue = (change: InvoiceChange): boolean =>
  change.total_paid_amount_cents !== undefined ||
  change.total_written_off_amount_cents !== undefined ||
  change.payment_status === 'succeeded' ||
  change.status === 'voided';

/** Replaces all metadata: at first out, then in, since two entries may swap their keys. */
export async function replaceMetadata(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
  { items, now }: { items: readonly InvoiceMetadataJson[]; now: Temporal.Instant },
): Promise<void> {
  await db`delete from invoice_metadata where organization_id = ${organizationId} and invoice_id = ${invoiceId}`;
  if (items.length === 0) return;
  await db`
    insert into invoice_metadata (id, organization_id, invoice_id, key, value, created_at, updated_at)
    select item.id, ${organizationId}::uuid, ${invoiceId}::uuid, item.key, item.value, item.created_at, ${now}
    from jsonb_to_recordset(${json(items)}::jsonb) as item (id uuid, key text, value text, created_at timestamptz)`;
}

/** Gives the fees of an invoice its payment status, with the instant at which they got it. */
export const payFees = (
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
  { status, now }: { status: PaymentStatus; now: Temporal.Instant },
) => db`
  update fees
  set payment_status = ${status}, updated_at = ${now},
    succeeded_at = ${status === 'succeeded' ? now : null}, failed_at = ${status === 'failed' ? now : null}
  where organization_id = ${organizationId} and invoice_id = ${invoiceId} and deleted_at is null`;

/** Forgets errors of some kinds, before what caused them is tried again. */
export const clearErrors = ({ db, organizationId }: Scope, invoiceId: InvoiceId, codes: readonly string[]) => db`
  delete from invoice_error_details
  where organization_id = ${organizationId} and invoice_id = ${invoiceId} and error_code = any (${codes})`;

/** Why an invoice failed, as a code that decides about a retry; details are for people to read. */
export type ErrorReason = 'api_limit' | 'number_not_assigned' | 'amount_out_of_range';

export const insertError = (
  { db, organizationId }: Scope,
  error: {
    id: string;
    invoice_id: InvoiceId;
    error_code: string;
    reason: ErrorReason | null;
    details: object;
    created_at: Temporal.Instant;
  },
) => db`
  insert into invoice_error_details (id, organization_id, invoice_id, error_code, reason, details, created_at)
  values (${error.id}, ${organizationId}, ${error.invoice_id}, ${error.error_code}, ${error.reason},
    ${json(error.details)}, ${error.created_at})`;
