import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';

/**
 * Kinds of stored sums. Overdue balances need none, because an index of their invoices holds just what their report
 * lists.
 */
export const REPORTS = [
  'gross_revenue',
  'invoice_collection',
  'invoiced_usage',
  'mrr',
  'revenue_streams',
  'usage',
  'prepaid_credits',
] as const;
export type Report = (typeof REPORTS)[number];

/** Stands for "no subscription" in entries, and for "all customers" in totals. */
export const nilUuid = (db: Db): Fragment => db`'00000000-0000-0000-0000-000000000000'::uuid`;

/**
 * Entries that sources count at present, as a select with the columns of analytics_entries behind the organization. The
 * sources are read from a CTE `source` with `source_type` and `source_id`. A source that no longer counts, such as a
 * voided invoice, has no entries. Amounts are not rounded except in `mrr`, whose fees are split into whole cents.
 *
 * Rules: analytics.md#common-rules "excluded", analytics.md#reports, analytics.md#recurring-revenue,
 * analytics.md#usage-and-extra-reports.
 */
export const entriesOf = (scope: Scope, report: Report): Fragment => BRANCHES[report](scope);

const BRANCHES: Record<Report, (scope: Scope) => Fragment> = {
  gross_revenue: ({ db, organizationId }) => db`
    select invoice.id as source_id, 'gross_revenue' as report, date_trunc('month', invoice.issuing_date)::date as day,
      invoice.billing_entity_id, invoice.customer_id, ${nilUuid(db)} as subscription_id, invoice.currency,
      '' as key, '' as code,
      case when invoice.sub_total_including_taxes_amount_cents = 0 then 0 else round(
        (invoice.total_amount_cents - refunded.amount_cents)::numeric(40, 20)
          * invoice.sub_total_excluding_taxes_amount_cents / invoice.sub_total_including_taxes_amount_cents, 20) end
        as amount,
      1::numeric as units
    from ${countedInvoices({ db, organizationId })}
    cross join lateral (
      select coalesce(sum(note.refund_amount_cents), 0) as amount_cents from credit_notes note
      where note.organization_id = ${organizationId} and note.invoice_id = invoice.id and note.status = 'finalized'
    ) refunded
    union all
    select fee.id, 'gross_revenue', date_trunc('month', fee.created_at at time zone 'UTC')::date, fee.billing_entity_id,
      fee.customer_id, ${nilUuid(db)}, fee.amount_currency, '', '', fee.amount_cents, 0
    from source
    join fees fee on fee.organization_id = ${organizationId} and fee.id = source.source_id
    join customers customer on customer.organization_id = ${organizationId} and customer.id = fee.customer_id
    where source.source_type = 'fee' and fee.invoice_id is null and fee.pay_in_advance and fee.deleted_at is null
      and customer.account_type = 'customer'`,

  invoice_collection: (scope) => scope.db`
    select invoice.id as source_id, 'invoice_collection' as report,
      date_trunc('month', invoice.issuing_date)::date as day,
      invoice.billing_entity_id, invoice.customer_id, ${nilUuid(scope.db)} as subscription_id, invoice.currency,
      invoice.payment_status as key, '' as code, invoice.total_amount_cents::numeric as amount, 1::numeric as units
    from ${countedInvoices(scope)}`,

  invoiced_usage: (scope) => scope.db`
    select invoice.id as source_id, 'invoiced_usage' as report,
      date_trunc('month', fee.created_at at time zone 'UTC')::date as day,
      invoice.billing_entity_id, invoice.customer_id, ${nilUuid(scope.db)} as subscription_id,
      fee.amount_currency as currency,
      '' as key, fee.item_code as code, sum(fee.amount_cents - fee.precise_coupons_amount_cents) as amount,
      count(*)::numeric as units
    from ${countedInvoices(scope)}
    join fees fee on fee.organization_id = ${scope.organizationId} and fee.invoice_id = invoice.id
    where fee.fee_type = 'charge' and fee.deleted_at is null
    group by invoice.id, 3, invoice.billing_entity_id, invoice.customer_id, fee.amount_currency, fee.item_code`,

  mrr: (scope) => scope.db`
    select invoice.id as source_id, 'mrr' as report,
      (date_trunc('month', invoice.issuing_date)
        + (case when plan.pay_in_advance then part.n
          else part.n - share.months + 1 end) * interval '1 month')::date as day,
      invoice.billing_entity_id, invoice.customer_id, fee.subscription_id, fee.amount_currency as currency,
      case plan.interval when 'weekly' then 'weekly' else '' end as key, '' as code,
      sum(share.cents + case when part.n < billed.cents - share.cents * share.months then 1 else 0 end) as amount,
      count(*)::numeric as units
    from ${countedInvoices(scope)}
    join fees fee on fee.organization_id = ${scope.organizationId} and fee.invoice_id = invoice.id
    join subscriptions subscription
      on subscription.organization_id = ${scope.organizationId} and subscription.id = fee.subscription_id
    join plans plan on plan.organization_id = ${scope.organizationId} and plan.id = subscription.plan_id
    cross join lateral (select round(fee.amount_cents - fee.precise_coupons_amount_cents) as cents) billed
    cross join lateral (select spread.months, floor(billed.cents / spread.months) as cents from (select least(
      case plan.interval when 'quarterly' then 3 when 'semiannual' then 6 when 'yearly' then 12 else 1 end,
      greatest(1, coalesce(ceil((
        ((fee.to_datetime - interval '1 microsecond') at time zone invoice.timezone)::date
          - (fee.from_datetime at time zone invoice.timezone)::date + 1) / 30.44),
            12)))::integer as months) spread) share
    cross join lateral generate_series(0, share.months - 1) as part (n)
    where fee.fee_type = 'subscription' and fee.deleted_at is null
    group by invoice.id, 3, invoice.billing_entity_id, invoice.customer_id, fee.subscription_id, fee.amount_currency,
      8`,

  revenue_streams: (scope) => scope.db`
    select fee.invoice_id as source_id, 'revenue_streams' as report, fee.issuing_date as day, fee.billing_entity_id,
      fee.customer_id, fee.subscription_id, fee.currency, part.key, fee.code,
      sum(round(part.amount, 20)) as amount, count(*)::numeric as units
    from (
      select invoice.id as invoice_id, invoice.issuing_date, invoice.billing_entity_id, invoice.customer_id,
        invoice.currency,
        coalesce(fee.subscription_id, ${nilUuid(scope.db)}) as subscription_id, fee.fee_type, fee.amount_cents,
        case fee.fee_type when 'charge' then fee.item_code else '' end as code,
        fee.precise_coupons_amount_cents as coupons,
        -- of what the invoice as a whole was credited, the fee's share
        case when sum(fee.amount_cents) over whole = 0 then 1::numeric(40, 20) / count(*) over whole
          else fee.amount_cents::numeric(40, 20) / sum(fee.amount_cents) over whole end as share,
        invoice.credit_notes_amount_cents, invoice.prepaid_granted_credit_amount_cents,
        invoice.prepaid_purchased_credit_amount_cents, invoice.progressive_billing_credit_amount_cents
      from ${countedInvoices(scope)}
      join fees fee on fee.organization_id = ${scope.organizationId} and fee.invoice_id = invoice.id
      where fee.fee_type <> 'credit' and fee.deleted_at is null
      window whole as (partition by invoice.id)
    ) fee
    cross join lateral (values
      (case fee.fee_type when 'charge' then 'usage_based_fee' when 'commitment' then 'commitment_fee'
        when 'add_on' then 'one_off_fee' else 'subscription_fee' end, fee.amount_cents::numeric),
      ('coupons', fee.coupons),
      ('credit_notes_credits', fee.credit_notes_amount_cents * fee.share),
      ('free_credits', coalesce(fee.prepaid_granted_credit_amount_cents, 0) * fee.share),
      ('prepaid_credits', coalesce(fee.prepaid_purchased_credit_amount_cents, 0) * fee.share),
      ('progressive_billing_credit', fee.progressive_billing_credit_amount_cents * fee.share)
    ) as part (key, amount)
    where part.amount <> 0
    group by fee.invoice_id, fee.issuing_date, fee.billing_entity_id, fee.customer_id, fee.subscription_id,
      fee.currency,
      part.key, fee.code`,

  usage: ({ db, organizationId }) => db`
    select snapshot.id as source_id, 'usage' as report, snapshot.usage_date as day,
      coalesce(subscription.billing_entity_id, customer.billing_entity_id) as billing_entity_id, snapshot.customer_id,
      snapshot.subscription_id, snapshot.amount_currency as currency, added.billable_metric_id::text as key,
      added.billable_metric_code as code, sum(added.amount_cents) as amount, sum(added.units) as units
    from source
    join daily_usages snapshot on snapshot.organization_id = ${organizationId} and snapshot.id = source.source_id
    join subscriptions subscription
      on subscription.organization_id = ${organizationId} and subscription.id = snapshot.subscription_id
    join customers customer on customer.organization_id = ${organizationId} and customer.id = snapshot.customer_id
    cross join lateral jsonb_to_recordset(snapshot.usage_diff)
      as added (billable_metric_id uuid, billable_metric_code text, units numeric, amount_cents numeric)
    where source.source_type = 'daily_usage'
    group by snapshot.id, 3, 4, snapshot.customer_id, snapshot.subscription_id, snapshot.amount_currency, 8, 9`,

  prepaid_credits: ({ db, organizationId }) => db`
    select transaction.id as source_id, 'prepaid_credits' as report,
      (transaction.settled_at at time zone 'UTC')::date as day,
      wallet.billing_entity_id, transaction.customer_id, ${nilUuid(db)} as subscription_id, wallet.currency,
      case transaction.transaction_status when 'granted' then 'offered' when 'invoiced' then 'consumed'
        else transaction.transaction_status end as key,
      '' as code, transaction.amount, transaction.credit_amount as units
    from source
    join wallet_transactions transaction
      on transaction.organization_id = ${organizationId} and transaction.id = source.source_id
    join wallets wallet on wallet.organization_id = ${organizationId} and wallet.id = transaction.wallet_id
    where source.source_type = 'wallet_transaction' and transaction.status = 'settled'`,
};

const countedInvoices = ({ db, organizationId }: Scope): Fragment => db`
  source join invoices invoice on invoice.organization_id = ${organizationId} and invoice.id = source.source_id
    and source.source_type = 'invoice' and invoice.status = 'finalized' and not invoice.self_billed
    and invoice.payment_dispute_lost_at is null`;
