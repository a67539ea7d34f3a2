import type { Context } from '../../../platform/context.ts';
import { isCodeTaken } from '../../../platform/db/code-taken.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { refuse } from '../../../platform/refusal.ts';
import { taxOfOrganizationChanged } from '../announcements.ts';
import { getTax, lockTax } from './queries.ts';
import type { TaxCreate, TaxUpdate } from './schema.ts';
import { taxView } from './view.ts';
import { detachEverywhere, flagDraftsOfTax, insertTax, markTaxDeleted, updateTaxRow } from './writes.ts';

/**
 * Makes a tax; with `applied_to_organization` the default billing entity holds it.
 *
 * @throws Refusal 422 code value_already_exist
 */
export async function createTax(ctx: Context, { body }: { body: TaxCreate }) {
  const { db, organizationId } = ctx;
  const id = newId();
  const { name, code, rate, description = null } = body;
  if (await isCodeTaken(db, 'taxes', organizationId, code)) throw refuse.invalid({ code: ['value_already_exist'] });
  await insertTax(db, organizationId, { id, name, code, rate, description, created_at: ctx.now() });
  if (body.applied_to_organization) await announce(ctx, taxOfOrganizationChanged, { tax_id: id, is_applied: true });
  await flagDraftsOfTax(db, organizationId, id);
  return { tax: taxView(await getTax(db, organizationId, code)) };
}

/**
 * Changes a tax, also one in use: drafts are computed anew, finalized invoices keep what they were made with.
 *
 * @throws Refusal 404 tax
 * @throws Refusal 422 code value_already_exist
 */
export async function updateTax(ctx: Context, { code, body }: { code: string; body: TaxUpdate }) {
  const { db, organizationId } = ctx;
  const tax = await lockTax(db, organizationId, code);
  const changed = {
    name: body.name ?? tax.name,
    code: body.code ?? tax.code,
    rate: body.rate ?? tax.rate.toFixed(),
    description: body.description === undefined ? tax.description : body.description,
  };
  if (await isCodeTaken(db, 'taxes', organizationId, changed.code, tax.id))
    throw refuse.invalid({ code: ['value_already_exist'] });
  // Before and after: whom it no longer applies to needs a new computation too.
  await flagDraftsOfTax(db, organizationId, tax.id);
  await updateTaxRow(db, organizationId, tax.id, changed, ctx.now());
  if (body.applied_to_organization !== undefined) {
    await announce(ctx, taxOfOrganizationChanged, { tax_id: tax.id, is_applied: body.applied_to_organization });
    await flagDraftsOfTax(db, organizationId, tax.id);
  }
  return { tax: taxView(await getTax(db, organizationId, changed.code)) };
}

/**
 * Deletes a tax: its code is free again and nothing carries it any more but what is finalized. Answers the tax as it was.
 *
 * @throws Refusal 404 tax
 */
export async function deleteTax(ctx: Context, { code }: { code: string }) {
  const { db, organizationId } = ctx;
  const tax = await lockTax(db, organizationId, code);
  await flagDraftsOfTax(db, organizationId, tax.id);
  await detachEverywhere(db, organizationId, tax.id);
  await markTaxDeleted(db, organizationId, tax.id, ctx.now());
  return { tax: taxView(tax) };
}
