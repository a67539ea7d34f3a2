import type { Context } from '../../../../platform/context.ts';
import { chooseSections, copySections } from '../../../customers/invoice-custom-sections/choose-sections.ts';
import type { SubscriptionCreate, SubscriptionUpdate } from '../schema.ts';

type Given = Pick<SubscriptionCreate | SubscriptionUpdate, 'invoice_custom_section'>;

/** Stores the custom sections that an input gives a subscription. */
export const saveSections = (ctx: Context, id: string, { invoice_custom_section: choice }: Given): Promise<void> =>
  chooseSections(ctx, { type: 'subscription', id }, choice);

/** The record that follows a subscription selects the sections of the request, else those of its predecessor. */
export async function inheritSections(ctx: Context, ids: { from: string; to: string }, given: Given): Promise<void> {
  if (given.invoice_custom_section !== undefined) return saveSections(ctx, ids.to, given);
  await copySections(ctx, 'subscription', ids, ctx.now());
}
