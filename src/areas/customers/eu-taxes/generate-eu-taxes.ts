import { localDate } from '../../../engine/calendar/local-day.ts';
import { euTaxesOn } from '../../../engine/taxes/eu/generated-taxes.ts';
import type { Context } from '../../../platform/context.ts';
import { findRow, getRow } from '../../../platform/db/rows.ts';
import { type TaxRow, taxes } from '../../catalog/taxes/queries.ts';
import { flagDraftsOfTaxes } from '../../catalog/taxes/writes.ts';
import { saveGeneratedTaxes } from './writes.ts';

/**
 * Creates the EU taxes of an organization at today's rates; existing ones get those rates.
 * Rule: eu-taxes.md.
 */
export async function generateEuTaxes(ctx: Context, timezone: string): Promise<void> {
  const generated = euTaxesOn(localDate(ctx.now(), timezone).toString());
  const changed = await saveGeneratedTaxes(ctx, generated, ctx.now());
  await flagDraftsOfTaxes(ctx, changed);
}

/** The tax of a code; created again if it was deleted. */
export async function euTax(ctx: Context, code: string, timezone: string): Promise<TaxRow> {
  const known = await findRow(ctx, taxes, code);
  if (known) return known;
  const generated = euTaxesOn(localDate(ctx.now(), timezone).toString()).filter((tax) => tax.code === code);
  await saveGeneratedTaxes(ctx, generated, ctx.now());
  return getRow(ctx, taxes, code);
}
