import type { Context } from '../../../platform/context.ts';
import { isCodeTaken } from '../../../platform/db/code-taken.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { flagDraftInvoicesOfPlans } from '../flag-drafts.ts';
import { findTaxesByCodes, listTaxesOfAddOns, replaceAddOnTaxes } from '../taxes/queries.ts';
import { type AddOnRow, lockAddOn } from './queries.ts';
import type { AddOnCreate, AddOnUpdate } from './schema.ts';
import { addOnView } from './view.ts';
import { deleteAddOnRow, insertAddOn, updateAddOnRow } from './writes.ts';

/**
 * Makes an add-on.
 *
 * @throws Refusal 404 tax; 422 by field
 * Rule: one-off-invoices.md.
 */
export async function createAddOn(ctx: Context, { body }: { body: AddOnCreate }) {
  const { db, organizationId } = ctx;
  const { name, code, amount_cents, amount_currency, invoice_display_name = null, description = null } = body;
  if (await isCodeTaken(db, 'add_ons', organizationId, code)) throw refuse.invalid({ code: ['value_already_exist'] });
  const taxes = await findTaxesByCodes(db, organizationId, body.tax_codes ?? []);
  const addOn: AddOnRow = {
    id: newId(),
    ...{ name, code, amount_cents, amount_currency, invoice_display_name, description },
    created_at: ctx.now(),
  };
  await insertAddOn(db, organizationId, addOn);
  await replaceAddOnTaxes(
    db,
    organizationId,
    addOn.id,
    taxes.map(({ id }) => id),
  );
  return { add_on: addOnView(addOn, taxes) };
}

/**
 * Changes an add-on: what was made from it before keeps its amounts.
 *
 * @throws Refusal 404 add_on, tax; 422 by field
 */
export async function updateAddOn(ctx: Context, { code, body }: { code: string; body: AddOnUpdate }) {
  const { db, organizationId } = ctx;
  const stored = await lockAddOn(db, organizationId, code);
  const { tax_codes, ...given } = body;
  const addOn: AddOnRow = { ...stored, ...definedOnly(given) };
  if (await isCodeTaken(db, 'add_ons', organizationId, addOn.code, stored.id))
    throw refuse.invalid({ code: ['value_already_exist'] });
  await updateAddOnRow(db, organizationId, addOn, ctx.now());
  if (tax_codes !== undefined) {
    const taxes = await findTaxesByCodes(db, organizationId, tax_codes);
    await replaceAddOnTaxes(
      db,
      organizationId,
      stored.id,
      taxes.map(({ id }) => id),
    );
  }
  return { add_on: addOnView(addOn, await listTaxesOfAddOns(db, organizationId, [stored.id])) };
}

const definedOnly = (given: Omit<AddOnUpdate, 'tax_codes'>): Partial<AddOnRow> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/**
 * Deletes an add-on and the fixed charges made from it: they are billed no more. Fees keep showing it. Answers the add-on
 * as it was.
 *
 * @throws Refusal 404 add_on
 */
export async function deleteAddOn(ctx: Context, { code }: { code: string }) {
  const { db, organizationId } = ctx;
  const addOn = await lockAddOn(db, organizationId, code);
  const taxes = await listTaxesOfAddOns(db, organizationId, [addOn.id]);
  const gone = await deleteAddOnRow(db, organizationId, addOn.id, ctx.now());
  const planIds = [...new Set(gone.map(({ plan_id }) => plan_id))];
  await flagDraftInvoicesOfPlans(db, organizationId, planIds, ctx.now());
  return { add_on: addOnView(addOn, taxes) };
}
