import type { Temporal } from 'temporal-polyfill';
import type { Interval } from '../../../engine/calendar/grid.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { columnValues } from '../../../platform/db/values.ts';
import type { BillingEntityId, CustomerId, PlanId, SubscriptionId } from '../../../platform/ids.ts';
import { columns, type SubscriptionRow } from './queries.ts';

/**
 * The facts about a customer that commands on its subscriptions need; its row is locked until the end of the
 * transaction.
 */
export interface LockedCustomer {
  id: CustomerId;
  external_id: string;
  billing_entity_id: BillingEntityId;
  currency: string | null;
  /** Applicable zone. */
  zone: string;
}

/**
 * The one writer per customer: code that creates, changes or bills subscriptions holds this row, and takes it before
 * the rows of subscriptions and invoices.
 */
export async function lockCustomerById(
  { db, organizationId }: Scope,
  id: CustomerId,
): Promise<LockedCustomer | undefined> {
  const [row] = await db<LockedCustomer[]>`
    select customer.id, customer.external_id, customer.billing_entity_id, customer.currency,
      coalesce(customer.timezone, entity.timezone) as zone
    from customers customer
    join billing_entities entity
      on entity.organization_id = customer.organization_id and entity.id = customer.billing_entity_id
    where customer.organization_id = ${organizationId} and customer.id = ${id}
    for no key update of customer`;
  return row;
}

/** Figures of a plan that decide what a change to it means. */
export interface PlanFacts {
  id: PlanId;
  code: string;
  interval: Interval;
  amount_cents: number;
  amount_currency: string;
  pay_in_advance: boolean;
  bill_charges_monthly: boolean | null;
  bill_fixed_charges_monthly: boolean | null;
  trial_period: Decimal | null;
}

const planFacts = (db: Db) => db`
  select id, code, interval, amount_cents, amount_currency, pay_in_advance, bill_charges_monthly,
    bill_fixed_charges_monthly, trial_period
  from plans`;

/** A plan that can be subscribed to: neither an override nor deleted or being deleted. Locked against its deletion. */
export async function findPlanForSale({ db, organizationId }: Scope, code: string): Promise<PlanFacts | undefined> {
  const [row] = await db<PlanFacts[]>`
    ${planFacts(db)}
    where organization_id = ${organizationId} and code = ${code} and parent_id is null and deleted_at is null
      and not pending_deletion
    for share`;
  return row;
}

export async function getPlanFacts({ db, organizationId }: Scope, id: PlanId): Promise<PlanFacts> {
  const [row] = await db<PlanFacts[]>`${planFacts(db)} where organization_id = ${organizationId} and id = ${id}`;
  return row!;
}

/** Every record of an external id, oldest first, locked. */
export const lockLineage = ({ db, organizationId }: Scope, externalId: string) => db<SubscriptionRow[]>`
  select ${columns(db)} from subscriptions s
  where s.organization_id = ${organizationId} and s.external_id = ${externalId}
  order by s.created_at, s.id
  for no key update`;

/** Subscriptions by id, locked in order of their ids. */
export const lockSubscriptions = ({ db, organizationId }: Scope, ids: readonly SubscriptionId[]) => db<
  SubscriptionRow[]
>`
  select ${columns(db)} from subscriptions s
  where s.organization_id = ${organizationId} and s.id = any (${ids}::uuid[])
  order by s.id
  for no key update`;

/** First start of the customer's records with an external id, where its trial began. */
export async function firstStartOf(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  externalId: string,
): Promise<Temporal.Instant | null> {
  const [row] = await db<{ first: Temporal.Instant | null }[]>`
    select min(started_at) as first from subscriptions
    where organization_id = ${organizationId} and customer_id = ${customerId} and external_id = ${externalId}`;
  return row!.first;
}

export type NewSubscription = Omit<
  SubscriptionRow,
  'canceled_at' | 'cancellation_reason' | 'terminated_at' | 'trial_ended_at'
>;

export const insertSubscription = ({ db, organizationId }: Scope, row: NewSubscription) => db`
  insert into subscriptions ${db(columnValues({ organization_id: organizationId, ...row }))}`;

/** Columns of a subscription that change after its creation. */
export type SubscriptionChange = Partial<
  Omit<SubscriptionRow, 'id' | 'customer_id' | 'external_id' | 'created_at' | 'updated_at'>
>;

export async function changeSubscription(
  { db, organizationId }: Scope,
  id: SubscriptionId,
  { change, now }: { change: SubscriptionChange; now: Temporal.Instant },
): Promise<void> {
  await db`
    update subscriptions set ${db(columnValues({ ...change, updated_at: now }))}
    where organization_id = ${organizationId} and id = ${id}`;
}

/** The first billed currency becomes that of the customer. Rule: subscriptions.md#fields. */
export const setFirstCurrency = (
  { db, organizationId }: Scope,
  customerId: CustomerId,
  { currency, now }: { currency: string; now: Temporal.Instant },
) => db`
  update customers set currency = ${currency}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${customerId} and currency is null`;
