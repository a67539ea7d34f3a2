import { localDate } from '../../../engine/calendar/local-day.ts';
import { euTaxesOn } from '../../../engine/taxes/eu/generated-taxes.ts';
import type { Context } from '../../../platform/context.ts';
import { findRow, getRow } from '../../../platform/db/rows.ts';
import { type TaxRow, taxes } from '../../catalog/taxes/queries.ts';
import { flagDraftsOfTaxes } from '../../catalog/taxes/writes.ts';
import { saveGeneratedTaxes } from './writes.ts';

/**
 * Gives an organization the taxes of the Union at the rates of the present day; those that it has take those rates.
 * Rule: eu-taxes.md.
 */
export async function generateEuTaxes(ctx: Context, timezone: string): Promise<void> {
  const generated = euTaxesOn(localDate(ctx.now(), timezone).toString());
  const changed = await saveGeneratedTaxes(ctx.db, ctx.organizationId, generated, ctx.now());
  await flagDraftsOfTaxes(ctx.db, ctx.organizationId, changed);
}

/** The tax of a code; made again if it was deleted. */
export async function euTax(ctx: Context, code: string, timezone: string): Promise<TaxRow> {
  const known = await findRow(ctx, taxes, code);
  if (known) return known;
  const generated = euTaxesOn(localDate(ctx.now(), timezone).toString()).filter((tax) => tax.code === code);
  await saveGeneratedTaxes(ctx.db, ctx.organizationId, generated, ctx.now());
  return getRow(ctx, taxes, code);
}
