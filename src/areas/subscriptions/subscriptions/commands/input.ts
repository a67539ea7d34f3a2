import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../../platform/context.ts';
import type { BillingEntityId, CustomerId } from '../../../../platform/ids.ts';
import { isUuid } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { findMethod } from '../../../customers/payment-methods/queries.ts';
import type { SubscriptionCreate, SubscriptionUpdate } from '../schema.ts';
import type { SubscriptionChange } from '../writes.ts';

type Given = SubscriptionCreate | SubscriptionUpdate;

/**
 * Id of the billing entity that an input names, null to inherit the customer's, undefined if the input does not name
 * one.
 *
 * @throws Refusal 404 billing_entity
 */
export async function billingEntityOf(ctx: Context, body: Given): Promise<string | null | undefined> {
  if (body.billing_entity_id) {
    const { billing_entity_id: id } = body;
    return liveEntity(
      isUuid(id)
        ? await ctx.db<{ id: BillingEntityId }[]>`
      select id from billing_entities
      where organization_id = ${ctx.organizationId} and id = ${id} and deleted_at is null and archived_at is null`
        : [],
    );
  }
  if (body.billing_entity_code) {
    return liveEntity(
      await ctx.db<{ id: BillingEntityId }[]>`
      select id from billing_entities
      where organization_id = ${ctx.organizationId} and code = ${body.billing_entity_code} and deleted_at is null
        and archived_at is null`,
    );
  }
  const isSetBack = body.billing_entity_id === null || body.billing_entity_code === null;
  return isSetBack ? null : undefined;
}

function liveEntity([row]: readonly { id: string }[]): string {
  if (!row) throw refuse.notFound('billing_entity');
  return row.id;
}

/**
 * Checks that the named payment method belongs to the customer.
 *
 * @throws Refusal 422 payment_method. Rule: subscriptions.md#fields.
 */
export async function refuseStrangeMethod(ctx: Context, customerId: CustomerId, body: Given): Promise<void> {
  const id = body.payment_method?.payment_method_id;
  if (!id || (isUuid(id) && (await findMethod(ctx, customerId, id)))) return;
  throw refuse.invalid({ payment_method: ['invalid_payment_method'] });
}

/** Columns of the editable values in an input; absent keys are left out. */
export function valuesOf(body: Given): SubscriptionChange {
  const section = body.invoice_custom_section;
  return definedOnly({
    name: body.name,
    ending_at: typeof body.ending_at === 'string' ? Temporal.Instant.from(body.ending_at) : body.ending_at,
    purchase_order_number: body.purchase_order_number,
    buyer_reference: body.buyer_reference,
    consolidate_invoice: body.consolidate_invoice,
    progressive_billing_disabled: body.progressive_billing_disabled,
    payment_method_type: body.payment_method?.payment_method_type,
    payment_method_id: body.payment_method?.payment_method_id,
    skip_invoice_custom_sections: section === undefined ? undefined : (section?.skip_invoice_custom_sections ?? false),
  });
}

export const definedOnly = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Values>;
