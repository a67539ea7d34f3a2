import type { Context } from '../../../platform/context.ts';
import type { FeeId } from '../../../platform/ids.ts';
import { listFeesByIds } from './queries.ts';
import { feeView } from './view.ts';

/**
 * Announces fees paid in advance, in the order in which they were made. Rule: webhooks.md#event-types
 * `fee.created`.
 */
export async function recordFeeCreated(ctx: Context, ids: readonly FeeId[]): Promise<void> {
  for (const row of await listFeesByIds(ctx, ids)) {
    ctx.record({
      webhook: {
        type: 'fee.created',
        objectType: 'fee',
        objectId: row.id,
        customerId: row.customer_id,
        object: feeView(row),
      },
    });
  }
}
