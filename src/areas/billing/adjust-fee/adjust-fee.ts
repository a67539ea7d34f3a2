import { assert } from '../../../engine/assert.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { FeeId, InvoiceId } from '../../../platform/ids.ts';
import { isUuid, newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import {
  deleteAdjustedFee,
  insertAdjustedFee,
  listAdjustableFees,
  listAdjustedFees,
} from '../../invoices/adjusted-fees/queries.ts';
import type { AdjustedFeeInput } from '../../invoices/adjusted-fees/schema.ts';
import { getFee } from '../../invoices/fees/queries.ts';
import { feeView } from '../../invoices/fees/view.ts';
import { getVisibleInvoice, type InvoiceRow } from '../../invoices/invoices/queries.ts';
import { lockVisibleInvoice } from '../../invoices/invoices/writes.ts';
import { keyOf } from '../build-invoice/adjustments.ts';
import { computeDraft, refreshDraft } from '../build-invoice/finalize-draft.ts';
import { ownerOf } from '../build-invoice/store-invoice.ts';
import { insertFees } from '../build-invoice/writes.ts';
import { imagine } from '../preview-invoice/run-and-take-back.ts';
import { adjustedThing, type Target } from './adjusted-item.ts';
import { hideComputation, takeFees } from './draft-tables.ts';

interface Input {
  svc_id: string;
  body: AdjustedFeeInput;
}

/**
 * Sets units, price or name of one fee of a draft by hand; the draft is computed with it now and at every later
 * refresh.
 *
 * @throws Refusal 404 invoice, fee, subscription, charge, charge_filter, fixed_charge; 403, when it is no draft;
 *   422 adjusted_fee already_exists, charge invalid_charge_model
 * Rule: usage-fees.md#adjusted-fees.
 */
export async function createAdjustedFee(ctx: Context, input: Input) {
  const { invoiceId, feeId } = await adjust(ctx, input);
  await refreshDraft(ctx, invoiceId);
  return { fee: feeView(await getFee(ctx, feeId)) };
}

/**
 * The fee that an adjustment would make. Nothing is stored and nothing is locked: the draft is computed as a refresh
 * computes it, and only its fees are written, to a temporary table of the preview.
 *
 * Rule: usage-fees.md#adjusted-fees.
 */
export async function previewAdjustedFee(ctx: Context, input: Input) {
  const { id: invoiceId, customer_id: customerId } = await getVisibleInvoice(ctx, input.svc_id);
  return imagine(ctx, { customerId, couponCodes: [] }, async (imagined) => {
    const own = imagined.at(ctx.now());
    const { feeId } = await adjust(own, input);
    await hideComputation(own, imagined.schemas, invoiceId);
    const computed = await computeDraft(own, invoiceId);
    assert(computed, 'what was adjusted is a draft');
    await takeFees(own, imagined.schemas);
    const { fees, draft } = computed.computation;
    await insertFees(own.db, ownerOf(own.organizationId, computed), { fees, draft });
    return { fee: feeView(await getFee(own, feeId)) };
  });
}

/** Stores an adjustment, with which the draft is then computed. */
async function adjust(ctx: Context, { svc_id, body }: Input): Promise<{ invoiceId: InvoiceId; feeId: FeeId }> {
  const invoice = await lockDraft(ctx, svc_id);
  const target = await adjustedThing(ctx, invoice, body);
  await refuseTwice(ctx, invoice, target);
  refuseModel(target, body);
  const { charge_model: _model, prorated: _prorated, fee_id: known, ...thing } = target;
  const feeId = known ?? newId();
  await insertAdjustedFee(ctx, invoice.id, {
    ...thing,
    id: newId(),
    fee_id: feeId,
    units: body.units == null ? null : decimal(body.units),
    unit_precise_amount: body.unit_precise_amount == null ? null : decimal(body.unit_precise_amount),
    invoice_display_name: body.invoice_display_name ?? null,
    created_at: ctx.now(),
  });
  return { invoiceId: invoice.id, feeId };
}

/**
 * Deletes an adjustment; the draft is computed again without it.
 *
 * @returns the fee as it then is; null when only the adjustment had made it
 * @throws Refusal 404 invoice, adjusted_fee; 403, when it is no draft
 */
export async function destroyAdjustedFee(ctx: Context, { svc_id, fee_id }: { svc_id: string; fee_id: FeeId }) {
  const invoice = await lockDraft(ctx, svc_id);
  const adjusted = (await listAdjustedFees(ctx, invoice.id)).find((row) => row.fee_id === fee_id);
  if (!adjusted || !isUuid(fee_id)) throw refuse.notFound('fee');
  await deleteAdjustedFee(ctx, invoice.id, fee_id);
  await refreshDraft(ctx, invoice.id);
  const fees = await listAdjustableFees(ctx, invoice.id);
  const fee = fees.find((each) => keyOf(each) === keyOf(adjusted));
  return { fee: fee === undefined ? null : feeView(await getFee(ctx, fee.id)) };
}

async function lockDraft(ctx: Context, id: InvoiceId): Promise<InvoiceRow> {
  const invoice = await lockVisibleInvoice(ctx, id);
  if (invoice.status !== 'draft' || invoice.invoice_type !== 'subscription')
    throw refuse.forbidden('feature_unavailable');
  return invoice;
}

async function refuseTwice(ctx: Context, invoice: InvoiceRow, target: Target): Promise<void> {
  const adjusted = await listAdjustedFees(ctx, invoice.id);
  if (adjusted.some((row) => keyOf(row) === keyOf(target))) throw refuse.invalid({ adjusted_fee: ['already_exists'] });
}

/** Models whose price depends on single events cannot be priced from units alone. */
function refuseModel(
  { charge_model: model, prorated }: Target,
  { units, unit_precise_amount }: AdjustedFeeInput,
): void {
  const isByUnits = units != null && unit_precise_amount == null;
  const asksForEvents = model === 'percentage' || model === 'dynamic' || (model === 'graduated' && prorated);
  if (isByUnits && asksForEvents) throw refuse.invalid({ charge: ['invalid_charge_model'] });
}
