import type { Context } from '../../../platform/context.ts';
import type { OrderFormId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { QuoteRow, QuoteVersionRow } from '../quotes/queries.ts';
import { nextNumber } from '../quotes/writes.ts';
import { recordOrder } from './announce.ts';
import type { ExecutionMode } from './schema.ts';
import { insertOrder } from './writes.ts';

interface Signed {
  quote: QuoteRow;
  version: QuoteVersionRow;
  orderFormId: OrderFormId;
  executionMode: ExecutionMode | null;
  executeAt: string | null;
}

/** Makes the order of a form that was just signed, with the deal as it was approved. Rule: quotes.md#routes. */
export async function createOrder(
  ctx: Context,
  { quote, version, orderFormId, executionMode, executeAt }: Signed,
): Promise<void> {
  const id = newId();
  await insertOrder(
    ctx,
    {
      id,
      customer_id: quote.customer_id,
      order_form_id: orderFormId,
      number: await nextNumber(ctx, 'order'),
      order_type: quote.order_type,
      execution_mode: executionMode,
      execute_at: executeAt,
      currency: version.currency,
      billing_snapshot: version.billing_items,
    },
    ctx.now(),
  );
  await recordOrder(ctx, 'order.created', id);
}
