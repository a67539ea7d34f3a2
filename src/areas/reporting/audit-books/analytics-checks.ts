import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import { counted, MOST_UNCOUNTED } from '../analytics/totals.ts';
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
    and (select count(*) from (
      select from analytics_marks
        where organization_id = ${organizationId} limit ${MOST_UNCOUNTED + 1}) mark) <= ${MOST_UNCOUNTED}
  order by 1
  limit ${MOST_FINDINGS}`;
}
