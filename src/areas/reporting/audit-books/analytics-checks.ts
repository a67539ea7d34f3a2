import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { nilUuid, type Report } from '../analytics/entries.ts';
import { counted, type Days, MOST_UNCOUNTED } from '../analytics/totals.ts';
import { windowsAt } from '../overview/figures.ts';
import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** Invariants between what was billed and the reports on it. Rule: auditor.md. */
export const ANALYTICS_CHECKS: readonly Check[] = [
  {
    code: 'A29',
    mustHold: 'invoiced usage of a month is the usage fees of finalized invoices less their coupons',
    resourceType: 'AnalyticsMonth',
    isSlow: true,
    find: findDifferingMonths,
  },
  {
    code: 'A40',
    mustHold: 'the sums of the overview are those of its reports: over customers, and of the invoices',
    resourceType: 'AnalyticsMonth',
    isSlow: true,
    find: async (ctx) => [...(await findDifferingGrains(ctx)), ...(await findDifferingCollection(ctx))],
  },
];

const EVER = { from: Temporal.PlainDate.from('1970-01-01'), to: Temporal.PlainDate.from('9999-12-31') };

/** Months whose report has another sum, unless more changes wait than reports count themselves. */
function findDifferingMonths({ db, organizationId }: Context): PromiseLike<readonly Finding[]> {
  return db<Finding[]>`
  with ${counted({ db, organizationId }, 'invoiced_usage', EVER, 'whole')},
  reported as (
    select day, currency, code, sum(amount) as amount from counted group by 1, 2, 3 having sum(entries_count) > 0
  ), billed as (
    select date_trunc('month', fee.created_at at time zone 'UTC')::date as day, fee.amount_currency as currency,
      fee.item_code as code, sum(fee.amount_cents - fee.precise_coupons_amount_cents) as amount
    from invoices invoice
    join fees fee on fee.organization_id = invoice.organization_id and fee.invoice_id = invoice.id
      and fee.fee_type = 'charge' and fee.deleted_at is null
    where invoice.organization_id = ${organizationId} and invoice.status = 'finalized' and not invoice.self_billed
      and invoice.payment_dispute_lost_at is null
    group by 1, 2, 3
  )
  select concat_ws(' ', day, currency, code) as resource_id, billed.amount::text as expected,
    reported.amount::text as actual
  from billed full join reported using (day, currency, code)
  where billed.amount is distinct from reported.amount
    and ${hasFewMarks({ db, organizationId })}
  order by 1
  limit ${MOST_FINDINGS}`;
}

/** The months that an overview shows. */
const overviewDays = ({ now }: Context): Days => {
  const { monthToDate, lastMonth } = windowsAt(now());
  return { from: lastMonth.from, to: monthToDate.from.add({ months: 1 }).subtract({ days: 1 }) };
};

/** Reports that are kept for the whole organization, which the overview reads, and by subscription. */
const OF_BOTH_GRAINS = ['mrr', 'revenue_streams', 'usage'] satisfies Report[];

/** Months in which the sums of the whole are not those of the subscriptions; both are written together. */
function findDifferingGrains(ctx: Context): PromiseLike<readonly Finding[]> {
  const { db, organizationId } = ctx;
  const { from, to } = overviewDays(ctx);
  const summed = (condition: Fragment) => db`
    select report, date_trunc('month', day)::date as month, currency, key, code, sum(amount) as amount
    from analytics_totals
    where organization_id = ${organizationId} and report = any (${OF_BOTH_GRAINS}::text[])
      and day between ${from} and ${to} and ${condition}
    group by 1, 2, 3, 4, 5`;
  return db<Finding[]>`
    with whole as (${summed(db`customer_id = ${nilUuid(db)}`)}), each as (${summed(db`customer_id <> ${nilUuid(db)}`)})
    select concat_ws(' ', report, month, currency, nullif(key, ''), nullif(code, '')) as resource_id,
      coalesce(each.amount, 0)::text as expected, coalesce(whole.amount, 0)::text as actual
    from whole full join each using (report, month, currency, key, code)
    where coalesce(whole.amount, 0) <> coalesce(each.amount, 0)
    order by 1
    limit ${MOST_FINDINGS}`;
}

/** Months whose collected amounts are not those of their invoices, unless more changes wait than reports count. */
function findDifferingCollection(ctx: Context): PromiseLike<readonly Finding[]> {
  const { db, organizationId } = ctx;
  const days = overviewDays(ctx);
  return db<Finding[]>`
    with ${counted({ db, organizationId }, 'invoice_collection', days, 'whole')},
    reported as (
      select day, currency, key, sum(amount) as amount from counted group by 1, 2, 3 having sum(entries_count) > 0
    ), billed as (
      select date_trunc('month', issuing_date)::date as day, currency, payment_status as key,
        sum(total_amount_cents) as amount
      from invoices
      where organization_id = ${organizationId} and issuing_date between ${days.from} and ${days.to}
        and status = 'finalized' and not self_billed and payment_dispute_lost_at is null
      group by 1, 2, 3
    )
    select concat_ws(' ', 'invoice_collection', day, currency, key) as resource_id, billed.amount::text as expected,
      reported.amount::text as actual
    from billed full join reported using (day, currency, key)
    where billed.amount is distinct from reported.amount and ${hasFewMarks(ctx)}
    order by 1
    limit ${MOST_FINDINGS}`;
}

/** Whether reports count all that waits themselves. */
const hasFewMarks = ({ db, organizationId }: Scope): Fragment => db`(
  select count(*) from (
    select from analytics_marks
      where organization_id = ${organizationId} limit ${MOST_UNCOUNTED + 1}) mark) <= ${MOST_UNCOUNTED}`;
