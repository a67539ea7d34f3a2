import type { Temporal } from 'temporal-polyfill';
import { billingDayFrom } from '../../../../engine/calendar/billing-day.ts';
import { dayStart, localDate } from '../../../../engine/calendar/local-day.ts';
import type { PlanTerms, SubscriptionTerms } from '../../../../engine/calendar/terms.ts';
import type { Context } from '../../../../platform/context.ts';
import type { BillingEntityId, CustomerId } from '../../../../platform/ids.ts';

/**
 * The value of `next_billing_at`: start of the next local day, today included, on which the hourly run may bill a
 * subscription. Rule: billing-periods.md#billing-days.
 */
export const nextBillingFrom = (
  plan: PlanTerms,
  subscription: SubscriptionTerms,
  zone: string,
  now: Temporal.Instant,
): Temporal.Instant => dayStart(billingDayFrom(plan, subscription, zone, localDate(now, zone)), zone);

/**
 * After a change of zone: local days may begin earlier than `next_billing_at` says, by less than a day and two hours.
 * So the hourly run examines these subscriptions early and decides itself.
 */
export async function recheckNextBilling(
  { db, organizationId }: Context,
  owner: { customer_id: CustomerId } | { billing_entity_id: BillingEntityId },
): Promise<void> {
  await db`
    update subscriptions s set next_billing_at = s.next_billing_at - interval '26 hours'
    from customers customer
    where s.organization_id = ${organizationId} and s.status = 'active' and customer.organization_id = s.organization_id
      and customer.id = s.customer_id
      and ${
        'customer_id' in owner
          ? db`customer.id = ${owner.customer_id}`
          : db`customer.billing_entity_id = ${owner.billing_entity_id} and customer.timezone is null`
      }`;
}
