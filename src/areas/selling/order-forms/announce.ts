import type { Context } from '../../../platform/context.ts';
import type { OrderFormId } from '../../../platform/ids.ts';
import { getOrderForm } from './queries.ts';
import { showOrderForm } from './view.ts';

type OrderFormEvent =
  | 'order_form.created'
  | 'order_form.signed'
  | 'order_form.file_uploaded'
  | 'order_form.expired'
  | 'order_form.voided';

/** Recorded in the audit trail only. */
const NOT_TOLD: OrderFormEvent = 'order_form.file_uploaded';

/**
 * Writes an order form's state into the audit trail and sends its webhook.
 *
 * @returns the form as it is shown
 * Rules: webhooks.md#event-types, logs.md#activity-logs.
 */
export async function recordOrderForm(ctx: Context, types: readonly OrderFormEvent[], id: OrderFormId) {
  const form = await getOrderForm(ctx, id);
  const object = await showOrderForm(ctx, form);
  for (const type of types) {
    ctx.record({
      activity: {
        type,
        resourceType: 'OrderForm',
        resourceId: id,
        object,
        externalCustomerId: form.external_customer_id,
      },
      ...(type === NOT_TOLD
        ? {}
        : { webhook: { type, objectType: 'order_form', objectId: id, customerId: form.customer_id, object } }),
    });
  }
  return object;
}
