import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { dueCents } from '../../invoices/invoices/amount-due.ts';
import type { CustomerSummaries, CustomerSummariesQuery } from './schema.ts';

/**
 * What live customers owe and when they were last active, in the order of the ids: what a list of customers shows
 * beside them. Ids that name no live customer are left out. Three statements.
 *
 * Rule: console-reads.md#customer-summaries.
 */
export async function showCustomerSummaries(
  ctx: Context,
  { query }: { query: CustomerSummariesQuery },
): Promise<CustomerSummaries> {
  const ids = [...new Set((query.svc_ids ?? []).filter(isUuid).map((id) => id.toLowerCase()))];
  if (ids.length === 0) return { customer_summaries: [] };
  const [customers, dues, days] = await Promise.all([
    listNamed(ctx, ids),
    sumDue(ctx, ids),
    listLastEventDays(ctx, ids),
  ]);
  const duesOf = groupRows(dues, (row) => row.customer_id);
  const dayOf = new Map(days.map((row) => [row.customer_id, row.last_event_on]));
  return {
    customer_summaries: customers.map(({ id, external_id }) => ({
      svc_id: id,
      external_id,
      currencies: (duesOf.get(id) ?? []).map(({ customer_id: _, ...sums }) => sums),
      last_event_on: dayOf.get(id)?.toString() ?? null,
    })),
  };
}

const listNamed = ({ db, organizationId }: Scope, ids: readonly CustomerId[]) => db<
  { id: CustomerId; external_id: string }[]
>`
  select id, external_id from customers
  where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and deleted_at is null
  order by array_position(${ids}::uuid[], id)`;

/** What finalized invoices still owe, by customer and currency; what the organization owes a partner is no due. */
const sumDue = ({ db, organizationId }: Scope, ids: readonly CustomerId[]) => db<
  { customer_id: CustomerId; currency: string; due_amount_cents: number; overdue_amount_cents: number }[]
>`
  select invoice.customer_id, invoice.currency, sum(${dueCents(db, 'invoice')})::bigint as due_amount_cents,
    coalesce(sum(${dueCents(db, 'invoice')}) filter (where invoice.payment_overdue), 0)::bigint as overdue_amount_cents
  from invoices invoice
  where invoice.organization_id = ${organizationId} and invoice.customer_id = any (${ids}::uuid[])
    and invoice.status = 'finalized' and invoice.payment_status <> 'succeeded' and not invoice.self_billed
  group by invoice.customer_id, invoice.currency
  order by invoice.currency`;

/** The UTC day on which the last event of any of its subscriptions arrived. */
const listLastEventDays = ({ db, organizationId }: Scope, ids: readonly CustomerId[]) => db<
  { customer_id: CustomerId; last_event_on: Temporal.PlainDate | null }[]
>`
  select customer_id, max(last_received_event_on) as last_event_on from subscriptions
  where organization_id = ${organizationId} and customer_id = any (${ids}::uuid[])
  group by customer_id`;
