import type { Context } from '../../../platform/context.ts';
import { insertRow, lockRow, refuseTakenCode, updateRow } from '../../../platform/db/rows.ts';
import { flagDraftInvoicesOfPlans } from '../flag-drafts.ts';
import { findTaxesByCodes, listTaxesOfAddOns } from '../taxes/queries.ts';
import { replaceAddOnTaxes } from '../taxes/writes.ts';
import { addOns } from './queries.ts';
import type { AddOnCreate, AddOnUpdate } from './schema.ts';
import { addOnView } from './view.ts';
import { deleteAddOnRow } from './writes.ts';

/**
 * Makes an add-on.
 *
 * @throws Refusal 404 tax; 422 by field
 * Rule: one-off-invoices.md.
 */
export async function createAddOn(ctx: Context, { body }: { body: AddOnCreate }) {
  await refuseTakenCode(ctx, addOns, body.code);
  const taxes = await findTaxesByCodes(ctx, body.tax_codes ?? []);
  const addOn = await insertRow(ctx, addOns, body);
  await replaceAddOnTaxes(ctx, addOn.id, idsOf(taxes));
  return { add_on: addOnView(addOn, taxes) };
}

/**
 * Changes an add-on: what was made from it before keeps its amounts.
 *
 * @throws Refusal 404 add_on, tax; 422 by field
 */
export async function updateAddOn(ctx: Context, { code, body }: { code: string; body: AddOnUpdate }) {
  const stored = await lockRow(ctx, addOns, code);
  await refuseTakenCode(ctx, addOns, body.code ?? stored.code, stored.id);
  const addOn = await updateRow(ctx, addOns, stored, body);
  if (body.tax_codes !== undefined) {
    const taxes = await findTaxesByCodes(ctx, body.tax_codes);
    await replaceAddOnTaxes(ctx, stored.id, idsOf(taxes));
  }
  return { add_on: addOnView(addOn, await listTaxesOfAddOns(ctx, [stored.id])) };
}

/**
 * Deletes an add-on and the fixed charges made from it: they are billed no more. Fees keep showing it. Answers the
 * add-on as it was.
 *
 * @throws Refusal 404 add_on
 */
export async function deleteAddOn(ctx: Context, { code }: { code: string }) {
  const addOn = await lockRow(ctx, addOns, code);
  const taxes = await listTaxesOfAddOns(ctx, [addOn.id]);
  const gone = await deleteAddOnRow(ctx, addOn.id, ctx.now());
  const planIds = [...new Set(gone.map(({ plan_id }) => plan_id))];
  await flagDraftInvoicesOfPlans(ctx, planIds, ctx.now());
  return { add_on: addOnView(addOn, taxes) };
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);
