import type { Context } from '../../../platform/context.ts';
import type { CustomerRow } from '../customers/queries.ts';
import { customerWebhookView } from '../customers/view.ts';

/** What is known about a number after a check: the register's data of a valid one. Rule: credits-and-payments A.6. */
export type CheckedNumber = { valid: boolean; valid_format: boolean; error?: string } & Record<string, unknown>;

/** Tells those who listen how a check ended. Rule: platform G.1 `customer.vies_check`. */
export const recordCheck = (ctx: Context, customer: CustomerRow, check: CheckedNumber): void =>
  ctx.record({
    webhook: {
      type: 'customer.vies_check',
      objectType: 'customer',
      objectId: customer.id,
      customerId: customer.id,
      object: { ...customerWebhookView(customer), vies_check: check },
    },
  });
