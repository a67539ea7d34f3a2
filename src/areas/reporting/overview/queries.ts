import { utcDate } from '../../../engine/calendar/instants.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId } from '../../../platform/ids.ts';
import { firstIdAt } from '../../../platform/ids.ts';
import { dueCents } from '../../invoices/invoices/amount-due.ts';
import { isInArrival } from '../../usage/events/live-events.ts';

/** How many customers, subscriptions and events are counted at most. */
const MOST_COUNTED = 10_000;

export interface OverdueRow {
  currency: string;
  ageing: '1-30' | '31-60' | '61-90' | '91+';
  amount_cents: number;
  invoices_count: number;
}

/** Overdue invoices by whole days since their due date; their index holds the overdue ones alone. */
export const sumAgeing = ({ db, organizationId, now }: Context, billingEntityId: BillingEntityId | undefined) => db<
  OverdueRow[]
>`
  select currency, ageing, sum(due)::bigint as amount_cents, count(*) as invoices_count
  from (
    select currency, ${dueCents(db, 'invoices')} as due,
      case when ${utcDate(now())}::date - payment_due_date <= 30 then '1-30'
        when ${utcDate(now())}::date - payment_due_date <= 60 then '31-60'
        when ${utcDate(now())}::date - payment_due_date <= 90 then '61-90' else '91+' end as ageing
    from invoices
    where organization_id = ${organizationId} and payment_overdue and status = 'finalized' and not self_billed
      ${billingEntityId === undefined ? db`` : db`and billing_entity_id = ${billingEntityId}`}
  ) overdue
  group by currency, ageing`;

export interface Count {
  count: number;
  more: boolean;
}

/** Live customers, active subscriptions and the events that came since the UTC day of the real clock began. */
export async function countRecords({
  db,
  organizationId,
}: Context): Promise<Record<'customers' | 'active_subscriptions' | 'events_today', Count>> {
  const today = utcDate(realNow()).toZonedDateTime('UTC').toInstant();
  const most = MOST_COUNTED + 1;
  const [row] = await db<{ customers: number; subscriptions: number; events: number }[]>`
    select
      (select count(*) from (select from customers
        where organization_id = ${organizationId} and deleted_at is null limit ${most}) first) as customers,
      (select count(*) from (select from subscriptions
        where organization_id = ${organizationId} and status = 'active' limit ${most}) first) as subscriptions,
      (select count(*) from (select from events e
        where e.organization_id = ${organizationId} and e.id >= ${firstIdAt(today)} and ${isInArrival(db)}
        limit ${most}) first) as events`;
  const counted = (count: number): Count => ({ count: Math.min(count, MOST_COUNTED), more: count > MOST_COUNTED });
  return {
    customers: counted(row!.customers),
    active_subscriptions: counted(row!.subscriptions),
    events_today: counted(row!.events),
  };
}
