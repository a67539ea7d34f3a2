import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CustomerId } from '../../../platform/ids.ts';
import { dueCents } from '../../invoices/invoices/amount-due.ts';
import { counted, type Days, type Grain } from './totals.ts';

/** Filters of every report by month; the entity and the customer exist. */
export interface MonthFilters {
  days: Days;
  currency: string | undefined;
  billingEntityId: BillingEntityId | undefined;
}

const filtered = (db: Db, { currency, billingEntityId }: Omit<MonthFilters, 'days'>): Fragment => db`
  ${currency === undefined ? db`` : db`and counted.currency = ${currency}`}
  ${billingEntityId === undefined ? db`` : db`and counted.billing_entity_id = ${billingEntityId}`}`;

/** When the reports of an organization begin, and the currency of months without revenue. */
export async function readReporting({
  db,
  organizationId,
}: Scope): Promise<{ created_at: Temporal.Instant; default_currency: string }> {
  const [row] = await db<{ created_at: Temporal.Instant; default_currency: string }[]>`
    select organization.created_at, entity.default_currency
    from organizations organization
    join billing_entities entity on entity.organization_id = organization.id and entity.deleted_at is null
    where organization.id = ${organizationId}
    order by entity.created_at, entity.id
    limit 1`;
  return row!;
}

/** The id of the live customer of an external id. */
export async function findCustomerId(
  { db, organizationId }: Scope,
  externalId: string,
): Promise<CustomerId | undefined> {
  const [row] = await db<{ id: CustomerId }[]>`
    select id from customers
    where organization_id = ${organizationId} and external_id = ${externalId} and deleted_at is null`;
  return row?.id;
}

interface MonthRow {
  day: Temporal.PlainDate;
  currency: string;
  /** Not rounded. */
  amount: Decimal;
}

export const sumGrossRevenue = (scope: Scope, filters: MonthFilters, grain: Grain) => scope.db<
  (MonthRow & { billing_entity_id: BillingEntityId; units: Decimal })[]
>`
  with ${counted(scope, 'gross_revenue', filters.days, grain)}
  select counted.day, counted.currency, counted.billing_entity_id, sum(counted.amount) as amount,
    sum(counted.units) as units
  from counted
  where true ${filtered(scope.db, filters)}
  group by 1, 2, 3
  having sum(counted.entries_count) > 0
  order by 1, 2, 3`;

export type PaymentStatus = 'pending' | 'succeeded' | 'failed';

export const sumCollection = (scope: Scope, filters: MonthFilters) =>
  sumByKey<PaymentStatus>(scope, 'invoice_collection', filters);

export const sumInvoicedUsage = (scope: Scope, filters: MonthFilters) => scope.db<(MonthRow & { code: string })[]>`
  with ${counted(scope, 'invoiced_usage', filters.days, 'whole')}
  select counted.day, counted.currency, counted.code, sum(counted.amount) as amount
  from counted
  where true ${filtered(scope.db, filters)}
  group by 1, 2, 3
  having sum(counted.entries_count) > 0
  order by 1 desc, 4 desc, 3, 2`;

/** Monthly recurring revenue; weekly fees are apart, with their number. */
export const sumMrr = (scope: Scope, filters: MonthFilters) => sumByKey<'' | 'weekly'>(scope, 'mrr', filters);

const sumByKey = <Key extends string>(
  scope: Scope,
  report: 'invoice_collection' | 'mrr',
  filters: MonthFilters,
) => scope.db<(MonthRow & { key: Key; units: Decimal })[]>`
  with ${counted(scope, report, filters.days, 'whole')}
  select counted.day, counted.currency, counted.key, sum(counted.amount) as amount, sum(counted.units) as units
  from counted
  where true ${filtered(scope.db, filters)}
  group by 1, 2, 3
  having sum(counted.entries_count) > 0
  order by 1, 2, 3`;

/**
 * Overdue invoices by the month in which they were due. Read from the invoices: their index holds the overdue ones
 * only.
 */
export const sumOverdue = (
  { db, organizationId }: Scope,
  { days, currency, billingEntityId }: MonthFilters,
  customerId: CustomerId | undefined,
) => db<(MonthRow & { billing_entity_id: BillingEntityId; ids: string[] })[]>`
  select date_trunc('month', payment_due_date)::date as day, currency, billing_entity_id,
    sum(${dueCents(db, 'invoices')}) as amount,
    array_agg(id order by payment_due_date, id) as ids
  from invoices
  where organization_id = ${organizationId} and payment_overdue and status = 'finalized' and not self_billed
    and payment_due_date >= ${days.from} and payment_due_date < ${days.to.add({ months: 1 })}
    ${currency === undefined ? db`` : db`and currency = ${currency}`}
    ${billingEntityId === undefined ? db`` : db`and billing_entity_id = ${billingEntityId}`}
    ${customerId === undefined ? db`` : db`and customer_id = ${customerId}`}
  group by 1, 2, 3
  order by 1, 2, 3`;
