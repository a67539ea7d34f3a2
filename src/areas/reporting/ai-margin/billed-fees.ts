import type { Currency } from '../../../engine/money/currency.ts';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { groupOfCall } from '../../usage/ai-usage-sums/change-hours.ts';
import type { Bounds, MarginWindow } from './queries.ts';

/** How many days before the end of its window a progressive invoice may be issued. */
const LONGEST_WINDOW = 366;

/**
 * Rows `fee`: those of charges of calls on finalized invoices whose windows touch the days of a report, with what is
 * left of them. A fee in advance has the hour and the group of its event. One more than a report reads.
 */
export const fees = (scope: Scope, window: MarginWindow, { fees: most }: Bounds): Fragment => {
  const { db } = scope;
  return db`
  fee as materialized (
    select * from (
      select fee.id, fee.customer_id, s.external_id as external_subscription_id, s.plan_id, fee.charge_id,
        fee.charge_filter_id, fee.grouped_by, fee.amount_currency, m.code, c.charge_model = 'dynamic' as by_amount,
        coalesce(f.properties, c.properties) as terms, ${netOf(scope)} as net,
        case when e.id is not null then ${groupOfCall(db)} end as own_group, ${windowOf(scope)}
      ${feesOfCalls(scope, window)}
    ) fee
    where ${touches(scope, window)}
    limit ${most + 1}
  )`;
};

/** Windows of the same fees, of all of them. */
export const windowsOfFees = (scope: Scope, window: MarginWindow): Fragment => scope.db`
  select * from (select ${windowOf(scope)} ${feesOfCalls(scope, window)}) fee where ${touches(scope, window)}`;

const windowOf = ({ db }: Scope): Fragment => db`
  coalesce(date_trunc('hour', e.timestamp, 'UTC'), fee.from_datetime, line.charges_from_datetime) as window_from,
  coalesce(date_trunc('hour', e.timestamp, 'UTC') + interval '1 hour', fee.to_datetime, line.charges_to_datetime)
    as window_to`;

/** An invoice is issued after the windows of its fees, but a progressive one within them. */
const feesOfCalls = (scope: Scope, window: MarginWindow): Fragment => {
  const { db, organizationId } = scope;
  return db`
    from invoices invoice
    join fees fee on fee.organization_id = ${organizationId} and fee.invoice_id = invoice.id
      and fee.fee_type = 'charge' and fee.deleted_at is null
    join charges c on c.organization_id = ${organizationId} and c.id = fee.charge_id
    join billable_metrics m on m.organization_id = ${organizationId} and m.id = c.billable_metric_id
    join subscriptions s on s.organization_id = ${organizationId} and s.id = fee.subscription_id
    left join charge_filters f on f.organization_id = ${organizationId} and f.id = fee.charge_filter_id
    left join invoice_subscriptions line on line.organization_id = ${organizationId}
      and line.invoice_id = invoice.id and line.subscription_id = fee.subscription_id
    left join events e on e.id = fee.event_id and e.organization_id = ${organizationId}
    where invoice.organization_id = ${organizationId} and invoice.status = 'finalized'
      and invoice.issuing_date >= ${window.from}::date - 1
        - case when invoice.invoice_type = 'progressive_billing' then ${LONGEST_WINDOW}::integer else 0 end
      and ${isOfCalls(scope)}`;
};

const touches = ({ db }: Scope, window: MarginWindow): Fragment => db`
  window_to > ${window.from}::date::timestamp at time zone 'UTC'
  and window_from < (${window.to}::date + 1)::timestamp at time zone 'UTC'`;

/** Whether a metric `m` has counted calls of language models. */
const isOfCalls = ({ db, organizationId }: Scope): Fragment => db`
  exists (select from ai_groups known where known.organization_id = ${organizationId} and known.code = m.code)`;

/**
 * What is left of a fee after coupons, what progressive invoices billed before it, and what notes gave back of it: what
 * it is taxed on, which both have lowered, and what is billed beside that.
 */
const netOf = ({ db, organizationId }: Scope): Fragment => db`
  round(fee.amount_cents - fee.precise_coupons_amount_cents + fee.untaxed_amount_cents - coalesce((
      select sum(item.amount_cents * note.sub_total_excluding_taxes_amount_cents::numeric
        / nullif(note.sub_total_excluding_taxes_amount_cents + note.coupons_adjustment_amount_cents, 0))
      from credit_note_items item
      join credit_notes note on note.organization_id = ${organizationId} and note.id = item.credit_note_id
        and note.status = 'finalized'
      where item.fee_id = fee.id and item.organization_id = ${organizationId}
    ), 0))`;

/** Fees of finalized invoices of these days that are for no calls: subscriptions, fixed charges, minimums, add-ons. */
export const otherFees = (scope: Scope, window: MarginWindow, currency: Currency): Fragment => {
  const { db } = scope;
  return db`
    select invoice.issuing_date as day, coalesce(s.external_id, '') as external_subscription_id, fee.customer_id,
      s.plan_id, case when fee.amount_currency = ${currency} then ${netOf(scope)} end as revenue
    ${feesOfOthers(scope, window)}`;
};

/** Days of issue of the same fees. */
export const daysOfOtherFees = (scope: Scope, window: MarginWindow): Fragment =>
  scope.db`select invoice.issuing_date as day ${feesOfOthers(scope, window)}`;

const feesOfOthers = (scope: Scope, window: MarginWindow): Fragment => {
  const { db, organizationId } = scope;
  return db`
    from invoices invoice
    join fees fee on fee.organization_id = ${organizationId} and fee.invoice_id = invoice.id
      and fee.fee_type <> 'credit' and fee.deleted_at is null
    left join subscriptions s on s.organization_id = ${organizationId} and s.id = fee.subscription_id
    where invoice.organization_id = ${organizationId} and invoice.status = 'finalized'
      and invoice.issuing_date between ${window.from}::date and ${window.to}::date and not exists (
        select from charges c
        join billable_metrics m on m.organization_id = ${organizationId} and m.id = c.billable_metric_id
        where c.organization_id = ${organizationId} and c.id = fee.charge_id and ${isOfCalls(scope)})`;
};
