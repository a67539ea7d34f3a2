import type { Context } from '../../../platform/context.ts';
import type { PayloadOf } from '../../../platform/reactions.ts';
import type { vatNumberChecked } from '../announcements.ts';
import { customerWebhookView } from './view.ts';

/** Announces the outcome of a check. Rule: webhooks.md#event-types `customer.vies_check`. */
export async function recordCheck(
  ctx: Context,
  { customer, check }: PayloadOf<typeof vatNumberChecked>,
): Promise<void> {
  ctx.record({
    webhook: {
      type: 'customer.vies_check',
      objectType: 'customer',
      objectId: customer.id,
      customerId: customer.id,
      object: { ...customerWebhookView(customer), vies_check: check },
    },
  });
}
