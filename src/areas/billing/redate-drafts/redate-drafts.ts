import { Temporal } from 'temporal-polyfill';
import { utcDate } from '../../../engine/calendar/instants.ts';
import { dateSettings, datesAtCreation } from '../../../engine/invoices/issuing-and-due-dates.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, InvoiceId } from '../../../platform/ids.ts';
import { finalizeDraft } from '../build-invoice/finalize-draft.ts';
import {
  type DatedDraft,
  type DraftOwner,
  listDatedDrafts,
  listDraftIds,
  type NewDates,
  writeDates,
} from './dated-drafts.ts';

/** Drafts in one transaction: bounds how long its rows stay locked. */
const DRAFTS_PER_STEP = 500;

/**
 * Step `redate-drafts`: after a change of grace period, anchor or adjustment, gives drafts the dates that they would
 * have been made with, and finalizes those that are now due. Safe to run twice. Rules: billing-entities.md,
 * customers.md#saving; invoices.md#dates.
 */
export async function redateDrafts(ctx: Context, { after_id: afterId, ...owner }: DraftOwner & { after_id?: string }) {
  const drafts = await listDatedDrafts(ctx, owner, { afterId, limit: DRAFTS_PER_STEP });
  const dated = drafts.map(newDates);
  if (dated.length > 0) await writeDates(ctx, dated);

  const today = utcDate(ctx.now());
  for (const { id, expected_finalization_date } of dated) {
    if (Temporal.PlainDate.compare(expected_finalization_date, today) <= 0) finalizeSoon(ctx, id);
  }
  const last = drafts.at(-1);
  if (last && drafts.length === DRAFTS_PER_STEP)
    ctx.after({ step: 'redate-drafts', payload: { ...owner, after_id: last.id } });
}

/**
 * Step `finalize-customer-drafts`: finalizes the drafts of a deleted customer (customers.md#deletion-portal-checkout).
 */
export async function finalizeCustomerDrafts(ctx: Context, owner: { customer_id: CustomerId }): Promise<void> {
  for (const { id } of await listDraftIds(ctx, owner)) finalizeSoon(ctx, id);
}

/** Step `finalize-draft`: finalizes one draft; does nothing if it is no longer a draft. */
export async function finalizeOneDraft(ctx: Context, { invoice_id }: { invoice_id: InvoiceId }): Promise<void> {
  await finalizeDraft(ctx, invoice_id);
}

const finalizeSoon = (ctx: Context, invoiceId: InvoiceId): void =>
  ctx.after({ step: 'finalize-draft', payload: { invoice_id: invoiceId } });

// Only subscription invoices are drafts, except those of in-advance charges.
function newDates({ id, billed_on, is_recurring, customer, entity }: DatedDraft): NewDates {
  const dates = datesAtCreation(
    {
      invoiceType: 'subscription',
      isRecurring: is_recurring,
      isInAdvanceCharge: false,
      settings: dateSettings(customer, entity),
    },
    billed_on,
  );
  return {
    id,
    issuing_date: dates.issuingDate.toString(),
    expected_finalization_date: dates.expectedFinalizationDate.toString(),
    payment_due_date: dates.paymentDueDate.toString(),
    net_payment_term: dates.netPaymentTerm,
  };
}
