import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** Time after which work that fell due should long be done. Rule: auditor.md#a13. */
const LATE_AFTER = { hours: 2, minutes: 20 } as const;

/** Invariants of subscriptions, their windows and what falls due. Rule: auditor.md. */
export const SUBSCRIPTION_CHECKS: readonly Check[] = [
  {
    code: 'A11',
    mustHold: 'no two recurring lines of a subscription bill the same time',
    resourceType: 'Subscription',
    find: ({ db, organizationId }) => db<Finding[]>`
      select distinct a.subscription_id as resource_id, former_to::text as expected, next_from::text as actual,
        jsonb_build_object('invoice_ids', jsonb_build_array(a.invoice_id, b.invoice_id)) as details
      from invoice_subscriptions a
      join invoices ia on ia.organization_id = a.organization_id and ia.id = a.invoice_id
        and ia.status not in ('voided', 'deleted')
      join invoice_subscriptions b on b.organization_id = a.organization_id and b.subscription_id = a.subscription_id
        and b.recurring and not b.regenerated and b.id > a.id
      join invoices ib on ib.organization_id = b.organization_id and ib.id = b.invoice_id
        and ib.status not in ('voided', 'deleted')
      cross join lateral (values
        (a.charges_from_datetime, a.charges_to_datetime, b.charges_from_datetime, b.charges_to_datetime),
        (a.fixed_charges_from_datetime, a.fixed_charges_to_datetime, b.fixed_charges_from_datetime,
        b.fixed_charges_to_datetime)
      ) as windows (former_from, former_to, next_from, next_to)
      where a.organization_id = ${organizationId} and a.recurring and not a.regenerated
        and former_from is not null and next_from is not null
        and tstzrange(next_from, next_to) && tstzrange(former_from, former_to)
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A12',
    mustHold: 'the windows of usage of an active subscription follow each other without a hole',
    resourceType: 'Subscription',
    find: ({ db, organizationId }) => db<Finding[]>`
      select distinct on (subscription_id) subscription_id as resource_id, former_end::text as expected,
        charges_from_datetime::text as actual, jsonb_build_object('invoice_id', invoice_id) as details
      from (
        select line.*, invoice.timezone,
          lag(line.charges_to_datetime) over in_order as former_end,
          lag(invoice.timezone) over in_order as former_timezone
        from invoice_subscriptions line
        join invoices invoice on invoice.organization_id = line.organization_id and invoice.id = line.invoice_id
        join subscriptions subscription on subscription.organization_id = line.organization_id
          and subscription.id = line.subscription_id and subscription.status = 'active'
        where line.organization_id = ${organizationId} and line.recurring and not line.regenerated
          and line.charges_from_datetime is not null
        window in_order as (partition by line.subscription_id order by line.charges_from_datetime, line.id)
      ) line
      where charges_from_datetime > former_end + interval '1 second' and timezone = former_timezone
      order by subscription_id, charges_from_datetime
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A13',
    mustHold: 'nothing that fell due waits for more than two hours',
    resourceType: 'Subscription',
    find: (ctx) => ctx.db<Finding[]>`
      select id as resource_id, next_billing_at::text as expected, ${ctx.now()}::timestamptz::text as actual,
        '{"due": "billing"}'::jsonb as details
      from subscriptions
      where organization_id = ${ctx.organizationId} and status = 'active'
        and next_billing_at < ${ctx.now().subtract(LATE_AFTER)}
      union all
      select line.subscription_id, invoice.expected_finalization_date::text, ${ctx.now()}::timestamptz::text,
        jsonb_build_object('due', 'finalization', 'invoice_id', invoice.id)
      from invoices invoice
      join invoice_subscriptions line on line.organization_id = invoice.organization_id and line.invoice_id = invoice.id
      where invoice.organization_id = ${ctx.organizationId} and invoice.status = 'draft'
        and invoice.expected_finalization_date::timestamp at time zone 'UTC' < ${ctx.now().subtract(LATE_AFTER)}
      union all
      select subscription.id, rule.expires_at::text, ${ctx.now()}::timestamptz::text,
        '{"due": "end of the gate"}'::jsonb
      from subscription_activation_rules rule
      join subscriptions subscription on subscription.organization_id = rule.organization_id
        and subscription.id = rule.subscription_id and subscription.status = 'incomplete'
      where rule.organization_id = ${ctx.organizationId} and rule.status = 'pending'
        and rule.expires_at < ${ctx.now().subtract(LATE_AFTER)}
      union all
      select id, expiration_at::text, ${ctx.now()}::timestamptz::text, '{"due": "end of the coupon"}'::jsonb
      from coupons
      where organization_id = ${ctx.organizationId} and status = 'active' and deleted_at is null
        and expiration = 'time_limit' and expiration_at < ${ctx.now().subtract(LATE_AFTER)}
      union all
      select id, expiration_at::text, ${ctx.now()}::timestamptz::text, '{"due": "end of the wallet"}'::jsonb
      from wallets
      where organization_id = ${ctx.organizationId} and status = 'active'
        and expiration_at < ${ctx.now().subtract(LATE_AFTER)}
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A14',
    mustHold: 'an external id has one active and one incomplete subscription at most',
    resourceType: 'Subscription',
    find: ({ db, organizationId }) => db<Finding[]>`
      select min(id::text)::uuid as resource_id, '1' as expected, count(*)::text as actual,
        jsonb_build_object('external_id', external_id, 'status', status) as details
      from subscriptions
      where organization_id = ${organizationId} and status in ('active', 'incomplete')
      group by external_id, status
      having count(*) > 1
      limit ${MOST_FINDINGS}`,
  },
];
