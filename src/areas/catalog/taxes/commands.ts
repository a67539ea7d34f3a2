import { Decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { deleteRow, getRow, insertRow, lockRow, refuseTakenCode, updateRow } from '../../../platform/db/rows.ts';
import { announce } from '../../../platform/reactions.ts';
import { taxOfOrganizationChanged } from '../announcements.ts';
import { taxes } from './queries.ts';
import type { TaxCreate, TaxUpdate } from './schema.ts';
import { taxView } from './view.ts';
import { detachEverywhere, flagDraftsOfTax } from './writes.ts';

/**
 * Makes a tax; with `applied_to_organization` the default billing entity holds it.
 *
 * @throws Refusal 422 code value_already_exist
 */
export async function createTax(ctx: Context, { body }: { body: TaxCreate }) {
  await refuseTakenCode(ctx, taxes, body.code);
  const { id } = await insertRow(ctx, taxes, {
    ...body,
    not_vat: body.not_vat ?? false,
    rate: new Decimal(body.rate),
  });
  if (body.applied_to_organization) await announce(ctx, taxOfOrganizationChanged, { tax_id: id, is_applied: true });
  await flagDraftsOfTax(ctx, id);
  return { tax: taxView(await getRow(ctx, taxes, body.code)) };
}

/**
 * Changes a tax, also one in use: drafts are computed again, finalized invoices keep what they were made with.
 *
 * @throws Refusal 404 tax
 * @throws Refusal 422 code value_already_exist
 */
export async function updateTax(ctx: Context, { code, body }: { code: string; body: TaxUpdate }) {
  const tax = await lockRow(ctx, taxes, code);
  const newCode = body.code ?? tax.code;
  await refuseTakenCode(ctx, taxes, newCode, tax.id);
  // Before and after the change, because drafts that lose the tax need a new computation too.
  await flagDraftsOfTax(ctx, tax.id);
  await updateRow(ctx, taxes, tax, { ...body, rate: body.rate === undefined ? undefined : new Decimal(body.rate) });
  if (body.applied_to_organization !== undefined) {
    await announce(ctx, taxOfOrganizationChanged, { tax_id: tax.id, is_applied: body.applied_to_organization });
    await flagDraftsOfTax(ctx, tax.id);
  }
  return { tax: taxView(await getRow(ctx, taxes, newCode)) };
}

/**
 * Deletes a tax: its code is free again, and only finalized invoices still show it. Answers the tax as it was.
 *
 * @throws Refusal 404 tax
 */
export async function deleteTax(ctx: Context, { code }: { code: string }) {
  const tax = await lockRow(ctx, taxes, code);
  await flagDraftsOfTax(ctx, tax.id);
  await detachEverywhere(ctx, tax.id);
  await deleteRow(ctx, taxes, tax.id);
  return { tax: taxView(tax) };
}
