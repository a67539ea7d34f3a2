import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** Grace of a hold past its time, which no longer counts and is marked within a minute. */
const HOLD_LATE_AFTER = { minutes: 5 } as const;

/** Invariants of coupons, refunds and holds. Rule: auditor.md. */
export const CREDIT_CHECKS: readonly Check[] = [
  {
    code: 'A09',
    mustHold: 'a coupon gives no more than it is worth: once its amount or one invoice, recurring its periods',
    resourceType: 'AppliedCoupon',
    find: ({ db, organizationId }) => db<Finding[]>`
      select applied.id as resource_id, expected::text, actual::text, jsonb_build_object('frequency',
        frequency) as details
      from applied_coupons applied
      cross join lateral (
        select count(*) as uses, coalesce(sum(credit.amount_cents), 0) as cents
        from credits credit
        join invoices invoice on invoice.organization_id = credit.organization_id and invoice.id = credit.invoice_id
          and invoice.status not in ('voided', 'closed', 'deleted')
        where credit.organization_id = applied.organization_id and credit.applied_coupon_id = applied.id
      ) given
      cross join lateral (
        select case when frequency = 'recurring' then frequency_duration else coalesce(amount_cents, 1) end as expected,
          case when frequency = 'recurring' then uses + frequency_duration_remaining
            when amount_cents is null then uses else cents end as actual
      ) compared
      where applied.organization_id = ${organizationId}
        and (frequency = 'once' and actual > expected or frequency = 'recurring' and actual <> expected)
      order by applied.id
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A26',
    mustHold: 'a hold takes no more than was available to it, and none stays open past its end',
    resourceType: 'WalletHold',
    find: (ctx) => ctx.db<Finding[]>`
      select id as resource_id, available_cents::text as expected, amount_cents::text as actual, '{}'::jsonb as details
      from wallet_holds
      where organization_id = ${ctx.organizationId} and amount_cents > available_cents
      union all
      select id, expires_at::text, ${ctx.now()}::timestamptz::text, jsonb_build_object('status', status)
      from wallet_holds
      where organization_id = ${ctx.organizationId} and status = 'open'
        and expires_at < ${ctx.now().subtract(HOLD_LATE_AFTER)}
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A26',
    mustHold: "what a wallet's holds take is the sum of those that count",
    resourceType: 'Wallet',
    find: ({ db, organizationId }) => db<Finding[]>`
      select held.wallet_id as resource_id, cents::text as expected, held.held_cents::text as actual,
        jsonb_build_object('counted_until', held.counted_until) as details
      from wallet_held held
      cross join lateral (
        select coalesce(sum(amount_cents), 0) as cents
        from wallet_holds hold
        where hold.organization_id = held.organization_id and hold.wallet_id = held.wallet_id
          and (hold.awaits_refresh or hold.status = 'open' and hold.expires_at > held.counted_until)
      ) counted
      where held.organization_id = ${organizationId} and held.held_cents <> counted.cents
      order by held.wallet_id
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A21',
    mustHold: 'a note that refunds something knows within a day what becomes of the refund',
    resourceType: 'CreditNote',
    find: (ctx) => ctx.db<Finding[]>`
      select id as resource_id, 'a refund status' as expected, null as actual,
        jsonb_build_object('refund', refund_amount_cents) as details
      from credit_notes
      where organization_id = ${ctx.organizationId} and status = 'finalized' and refund_amount_cents > 0
        and refund_status is null and created_at < ${ctx.now().subtract({ hours: 24 })}
      order by id
      limit ${MOST_FINDINGS}`,
  },
];
