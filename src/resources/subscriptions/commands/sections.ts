import type { Context } from '../../../platform/context.ts';
import { copySections, replaceSections } from '../../invoice-custom-sections/selections.ts';
import type { SubscriptionCreate, SubscriptionUpdate } from '../schema.ts';

type Given = Pick<SubscriptionCreate | SubscriptionUpdate, 'invoice_custom_section'>;

/** Stores the custom sections that an input gives a subscription; one that skips sections has none. Rule: subscriptions-and-invoices F.9. */
export async function saveSections(ctx: Context, id: string, { invoice_custom_section: choice }: Given): Promise<void> {
  if (choice === undefined) return;
  const codes = choice?.skip_invoice_custom_sections ? [] : (choice?.invoice_custom_section_codes ?? []);
  const isSilent = choice !== null && codes.length === 0 && choice.invoice_custom_section_codes === undefined;
  if (isSilent && !choice.skip_invoice_custom_sections) return;
  await replaceSections(ctx.db, ctx.organizationId, { type: 'subscription', id }, codes, ctx.now());
}

/** The record that follows a subscription selects what the request says, else what the one before selected. */
export async function inheritSections(ctx: Context, ids: { from: string; to: string }, given: Given): Promise<void> {
  if (given.invoice_custom_section !== undefined) return saveSections(ctx, ids.to, given);
  await copySections(ctx.db, ctx.organizationId, 'subscription', ids, ctx.now());
}
