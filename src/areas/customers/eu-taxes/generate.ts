import { localDate } from '../../../engine/calendar/local-day.ts';
import { euTaxesOn } from '../../../engine/taxes/eu/generated-taxes.ts';
import type { Context } from '../../../platform/context.ts';
import { findTax, getTax, type TaxRow } from '../../catalog/taxes/queries.ts';
import { flagDraftsOfTaxes } from '../../catalog/taxes/writes.ts';
import { saveGeneratedTaxes } from './writes.ts';

/**
 * Gives an organization the taxes of the Union at the rates of the present day; those that it has take those rates.
 * Rule: eu-taxes.md.
 */
export async function generateEuTaxes(ctx: Context, timezone: string): Promise<void> {
  const taxes = euTaxesOn(localDate(ctx.now(), timezone).toString());
  const changed = await saveGeneratedTaxes(ctx.db, ctx.organizationId, taxes, ctx.now());
  await flagDraftsOfTaxes(ctx.db, ctx.organizationId, changed);
}

/** The tax of a code; made again when somebody deleted it. */
export async function euTax(ctx: Context, code: string, timezone: string): Promise<TaxRow> {
  const { db, organizationId } = ctx;
  const known = await findTax(db, organizationId, code);
  if (known) return known;
  const generated = euTaxesOn(localDate(ctx.now(), timezone).toString()).filter((tax) => tax.code === code);
  await saveGeneratedTaxes(db, organizationId, generated, ctx.now());
  return getTax(db, organizationId, code);
}
