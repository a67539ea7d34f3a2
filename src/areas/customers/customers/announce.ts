import type { Context } from '../../../platform/context.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import type { TaxRow } from '../../catalog/taxes/queries.ts';
import type { SectionRow } from '../invoice-custom-sections/queries.ts';
import type { CustomerRow } from './queries.ts';
import { customerView, customerWebhookView } from './view.ts';

/**
 * Writes a change of a customer into the audit trail and announces it.
 * Rules: webhooks.md#event-types, logs.md#activity-logs.
 */
export function recordCustomer(
  ctx: Context,
  action: 'created' | 'updated',
  customer: CustomerRow,
  { taxes, sections }: { taxes: TaxRow[]; sections: SectionRow[] },
  before?: ReturnType<typeof customerView>,
) {
  const object = customerView(customer, taxes, sections);
  ctx.record({
    activity: { ...activityOf(action, customer, object), ...(before ? { changes: changedKeys(before, object) } : {}) },
    webhook: {
      type: `customer.${action}`,
      objectType: 'customer',
      objectId: customer.id,
      customerId: customer.id,
      object: customerWebhookView(customer),
    },
  });
  return { customer: object };
}

/** A line of the audit trail about a customer. */
export const activityOf = (action: string, customer: CustomerRow, object: object) => ({
  type: `customer.${action}`,
  resourceType: 'Customer',
  resourceId: customer.id,
  object,
  externalCustomerId: customer.external_id,
});
