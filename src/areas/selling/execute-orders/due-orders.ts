import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { OrderId, OrganizationId, SubscriptionId } from '../../../platform/ids.ts';
import type { Page, Reach } from '../../../platform/periodic-job.ts';

/** Locks the plans of a deal, and the plan of the subscription that it amends, in order of their ids. */
export const lockPlans = (
  ctx: Context,
  subscriptionId: SubscriptionId | null,
  items: readonly { id: string }[],
) => ctx.db`
  select plan.id from plans plan
  where plan.organization_id = ${ctx.organizationId} and (
    plan.id = any (${items.map(({ id }) => id)}::uuid[])
    or plan.id = (select coalesce(own.parent_id, own.id) from subscriptions amended
      join plans own on own.organization_id = amended.organization_id and own.id = amended.plan_id
      where amended.organization_id = ${ctx.organizationId} and amended.id = ${subscriptionId}))
  order by plan.id
  for share`;

/** Records of an external id, oldest first. */
export const listLineage = (ctx: Context, externalId: string) => ctx.db<{ id: SubscriptionId; status: string }[]>`
  select id, status from subscriptions
  where organization_id = ${ctx.organizationId} and external_id = ${externalId}
  order by created_at, id`;

interface Due {
  organization_id: OrganizationId;
  sandbox: boolean;
  id: OrderId;
}

export const listDueOrders = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`purchase.organization_id`, db`purchase.execute_at, purchase.id`);
  return db<(Due & Placed)[]>`
    select purchase.organization_id, organization.sandbox, purchase.id, ${rows.place}
    from orders purchase
    join organizations organization on organization.id = purchase.organization_id
    where purchase.status = 'created' and purchase.execute_at <= ${at}
      and ${inReach(db, reach, db`purchase.organization_id`)} and ${rows.isBehind}
    ${rows.order}`;
};

export const earliestExecution = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(execute_at) as at from orders
  where organization_id = ${organizationId} and status = 'created' and execute_at is not null`;

/** Start of the local day on which a form expires. */
const expiryDayStart = (db: Db) => db`
  (date_trunc('day', form.expires_at at time zone coalesce(customer.timezone, entity.timezone))
    at time zone coalesce(customer.timezone, entity.timezone))`;

const formsWithZone = (db: Db) => db`
  order_forms form
  join customers customer on customer.organization_id = form.organization_id and customer.id = form.customer_id
  join billing_entities entity
    on entity.organization_id = customer.organization_id and entity.id = customer.billing_entity_id`;

/** Generated forms whose day of expiry has begun in the customer's zone. */
export const listExpiredForms = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`form.organization_id`, db`form.expires_at, form.id`);
  return db<(Due & Placed)[]>`
    select form.organization_id, organization.sandbox, form.id, ${rows.place}
    from ${formsWithZone(db)}
    join organizations organization on organization.id = form.organization_id
    where form.status = 'generated' and form.expires_at <= ${at}::timestamptz + interval '2 days'
      and ${expiryDayStart(db)} <= ${at} and ${inReach(db, reach, db`form.organization_id`)} and ${rows.isBehind}
    ${rows.order}`;
};

export const earliestExpiry = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(${expiryDayStart(db)}) as at from ${formsWithZone(db)}
  where form.organization_id = ${organizationId} and form.status = 'generated' and form.expires_at is not null`;
