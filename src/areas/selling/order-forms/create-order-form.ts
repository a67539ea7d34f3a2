import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import type { PayloadOf } from '../../../platform/reactions.ts';
import type { quoteApproved } from '../announcements.ts';
import { nextNumber } from '../quotes/writes.ts';
import { recordOrderForm } from './announce.ts';
import { insertOrderForm } from './queries.ts';

/** Makes the order form of a version that was just approved. Rule: quotes.md#approval. */
export async function createOrderForm(
  ctx: Context,
  { quote, version, expires_at }: PayloadOf<typeof quoteApproved>,
): Promise<void> {
  const id = newId();
  await insertOrderForm(
    ctx.db,
    {
      id,
      organization_id: ctx.organizationId,
      customer_id: quote.customer_id,
      quote_id: quote.id,
      quote_version_id: version.id,
      number: await nextNumber(ctx, 'order_form'),
      expires_at,
    },
    ctx.now(),
  );
  await recordOrderForm(ctx, ['order_form.created'], id);
}
