import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CouponId, MetricId, PlanId } from '../../../platform/ids.ts';

/** Limits a coupon to exactly these plans and metrics. */
export async function replaceTargets(
  { db, organizationId }: Scope,
  id: CouponId,
  { planIds, metricIds }: { planIds: readonly PlanId[]; metricIds: readonly MetricId[] },
): Promise<void> {
  await db`
    with gone as (
      delete from coupon_plans where organization_id = ${organizationId} and coupon_id = ${id}
        and plan_id <> all (${planIds}::uuid[])
    ), stored as (
      insert into coupon_plans (organization_id, coupon_id, plan_id)
      select ${organizationId}::uuid, ${id}::uuid, plan_id from unnest(${planIds}::uuid[]) as plan_id
      on conflict do nothing
      returning true
    )
    select count(*) from stored`;
  await db`
    with gone as (
      delete from coupon_billable_metrics where organization_id = ${organizationId} and coupon_id = ${id}
        and billable_metric_id <> all (${metricIds}::uuid[])
    ), stored as (
      insert into coupon_billable_metrics (organization_id, coupon_id, billable_metric_id)
      select ${organizationId}::uuid, ${id}::uuid, metric_id from unnest(${metricIds}::uuid[]) as metric_id
      on conflict do nothing
      returning true
    )
    select count(*) from stored`;
}

export const markCouponDeleted = ({ db, organizationId }: Scope, id: CouponId, now: Temporal.Instant) => db`
  update coupons
  set status = 'terminated', terminated_at = coalesce(terminated_at, ${now}), deleted_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** Ends a coupon whose time is over by `at`; whether it was still active. Rule: coupons.md#fields "expiry". */
export async function terminateExpired(
  { db, organizationId }: Scope,
  id: CouponId,
  { at, now }: { at: Temporal.Instant; now: Temporal.Instant },
): Promise<boolean> {
  const ended = await db`
    update coupons set status = 'terminated', terminated_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${id} and status = 'active' and expiration = 'time_limit'
      and expiration_at < ${at} and deleted_at is null
    returning id`;
  return ended.length > 0;
}
