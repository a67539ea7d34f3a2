import { type ActiveCoupon, type CouponFrequency, mayReduce } from '../../../engine/credits/coupon.ts';
import type { Draft } from '../../../engine/invoices/draft.ts';
import { cents } from '../../../engine/money/cents.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { AppliedCouponId, CustomerId, MetricId, PlanId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { LineFee } from './fees.ts';
import type { InvoiceOwner } from './writes.ts';

interface CouponRow {
  id: AppliedCouponId;
  code: string;
  frequency: CouponFrequency;
  /** What is left of a `once` coupon. */
  amount_cents: number | null;
  amount_currency: string | null;
  percentage_rate: Decimal | null;
  frequency_duration_remaining: number | null;
  limited_plans: boolean;
  limited_billable_metrics: boolean;
  plan_ids: PlanId[];
  metric_ids: MetricId[];
}

/**
 * The coupons of a customer and the fees that each may take money off, oldest first; they are held until the
 * transaction ends, so that each is used by one invoice at a time.
 *
 * Rule: coupons.md#on-an-invoice.
 */
export async function activeCoupons(
  ctx: Context,
  customerId: CustomerId,
  fees: readonly LineFee[],
): Promise<ActiveCoupon[]> {
  const { db, organizationId } = ctx;
  const held = await db<{ id: AppliedCouponId }[]>`
    select id from applied_coupons
    where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'active'
    order by id
    for no key update`;
  if (held.length === 0) return [];
  // Read again once they are locked: a void may have given back meanwhile what it used.
  const rows = await listCoupons(
    ctx,
    held.map(({ id }) => id),
  );
  return rows.map((row) => ({
    id: row.id,
    code: row.code,
    frequency: row.frequency,
    limit: row.limited_billable_metrics ? 'metrics' : row.limited_plans ? 'plans' : 'none',
    eligible: new Set(fees.filter((fee) => mayReduce(row, targetOf(fee))).map(({ id }) => id)),
    worth:
      row.percentage_rate === null
        ? { type: 'fixed_amount', amountCents: cents(row.amount_cents!), currency: row.amount_currency! }
        : { type: 'percentage', rate: row.percentage_rate },
    periodsLeft: row.frequency_duration_remaining,
  }));
}

const targetOf = ({ charge, line }: LineFee) => ({
  plan_id: line.subscription.plan_id,
  metric_id: charge?.metric.id,
});

/** Plans include their overrides. */
const listCoupons = ({ db, organizationId }: Scope, ids: readonly AppliedCouponId[]) => db<CouponRow[]>`
  select applied.id, coupon.code, applied.frequency, applied.amount_currency, applied.percentage_rate,
    applied.frequency_duration_remaining, coupon.limited_plans, coupon.limited_billable_metrics,
    case when applied.frequency = 'once' then applied.amount_cents - coalesce((
        select sum(credit.amount_cents)
        from credits credit
        join invoices invoice on invoice.organization_id = credit.organization_id and invoice.id = credit.invoice_id
        where credit.organization_id = ${organizationId} and credit.applied_coupon_id = applied.id
          and invoice.status not in ('voided', 'closed', 'deleted')), 0)
      else applied.amount_cents end::bigint as amount_cents,
    array(
      select plan.id from coupon_plans link
      join plans plan on plan.organization_id = link.organization_id
        and (plan.id = link.plan_id or plan.parent_id = link.plan_id)
      where link.organization_id = ${organizationId} and link.coupon_id = coupon.id
    ) as plan_ids,
    array(
      select billable_metric_id from coupon_billable_metrics
      where organization_id = ${organizationId} and coupon_id = coupon.id
    ) as metric_ids
  from applied_coupons applied
  join coupons coupon on coupon.organization_id = applied.organization_id and coupon.id = applied.coupon_id
  where applied.organization_id = ${organizationId} and applied.id = any (${ids}::uuid[])
  order by applied.created_at, applied.id`;

/** Stores what coupons took off an invoice, and what is left of them. Rule: coupons.md#on-an-invoice. */
export async function storeCouponUses(ctx: Context, owner: InvoiceOwner, { couponUses }: Draft): Promise<void> {
  if (couponUses.length === 0) return;
  const rows = couponUses.map(({ coupon, amountCents, periodsLeft, isUsedUp }) => ({
    id: newId(),
    applied_coupon_id: coupon.id,
    amount_cents: amountCents,
    periods_left: periodsLeft,
    is_used_up: isUsedUp,
  }));
  await ctx.db`
    with used as (
      select * from jsonb_to_recordset(${json(rows)}::jsonb) as credit (id uuid, applied_coupon_id uuid,
        amount_cents bigint, periods_left integer, is_used_up boolean)
    ),
    left_over as (
      update applied_coupons applied
      set frequency_duration_remaining = used.periods_left,
        status = case when used.is_used_up then 'terminated' else applied.status end,
        terminated_at = case when used.is_used_up then ${ctx.now()} else applied.terminated_at end,
        updated_at = ${ctx.now()}
      from used
      where applied.organization_id = ${owner.organizationId} and applied.id = used.applied_coupon_id
    ), stored as (
      insert into credits (id, organization_id, invoice_id, applied_coupon_id, amount_cents, amount_currency,
        before_taxes,
        created_at)
      select id, ${owner.organizationId}::uuid, ${owner.invoiceId}::uuid, applied_coupon_id, amount_cents,
        ${owner.currency}, true, ${owner.createdAt}
      from used
      returning true
    )
    select count(*) from stored`;
}
