import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import type { CouponFrequency, CouponType } from '../../../engine/credits/coupon.ts';
import type { CouponStatus } from '../../../engine/credits/coupon-states.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { AppliedCouponId, CouponId, CustomerId, ExternalCustomerId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { liveCustomerId } from '../../customers/customers/queries.ts';
import type { AppliedCouponsQuery } from './schema.ts';

export interface AppliedCouponRow {
  id: AppliedCouponId;
  coupon_id: CouponId;
  customer_id: CustomerId;
  external_customer_id: ExternalCustomerId;
  status: CouponStatus;
  amount_cents: number | null;
  amount_currency: string | null;
  percentage_rate: Decimal | null;
  frequency: CouponFrequency;
  frequency_duration: number | null;
  frequency_duration_remaining: number | null;
  /** The amount it took off invoices that still count. */
  used_cents: number;
  terminated_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  coupon_type: CouponType;
  coupon_code: string;
  coupon_name: string;
  coupon_description: string | null;
  coupon_status: CouponStatus;
  coupon_deleted_at: Temporal.Instant | null;
  limited_plans: boolean;
  limited_billable_metrics: boolean;
  expiration_at: Temporal.Instant | null;
}

const columns = (db: Db) => db`
  applied.id, applied.coupon_id, applied.customer_id, customer.external_id as external_customer_id, applied.status,
  applied.amount_cents, applied.amount_currency, applied.percentage_rate, applied.frequency,
  applied.frequency_duration, applied.frequency_duration_remaining, applied.terminated_at, applied.created_at,
  coupon.coupon_type, coupon.code as coupon_code, coupon.name as coupon_name,
  coupon.description as coupon_description, coupon.status as coupon_status, coupon.deleted_at as coupon_deleted_at,
  coupon.limited_plans, coupon.limited_billable_metrics, coupon.expiration_at,
  coalesce((
    select sum(credit.amount_cents)
    from credits credit
    join invoices invoice on invoice.organization_id = credit.organization_id and invoice.id = credit.invoice_id
    where credit.organization_id = applied.organization_id and credit.applied_coupon_id = applied.id
      and invoice.status not in ('voided', 'closed', 'deleted')), 0)::bigint as used_cents`;

const joined = (db: Db, applied = db`applied_coupons`) => db`
  ${applied} applied
  join coupons coupon on coupon.organization_id = applied.organization_id and coupon.id = applied.coupon_id
  join customers customer on customer.organization_id = applied.organization_id and customer.id = applied.customer_id`;

/** An applied coupon of ours by its id. */
export async function readAppliedCoupon({ db, organizationId }: Scope, id: AppliedCouponId): Promise<AppliedCouponRow> {
  const [row] = await db<AppliedCouponRow[]>`
    select ${columns(db)} from ${joined(db)}
    where applied.organization_id = ${organizationId} and applied.id = ${id}`;
  assert(row, 'an applied coupon that is referred to exists');
  return row;
}

/** @throws Refusal 404 applied_coupon, unless the customer has or had it */
export async function lockAppliedCoupon(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  id: AppliedCouponId,
): Promise<AppliedCouponRow> {
  const [row] = isUuid(id)
    ? await db<AppliedCouponRow[]>`
        select ${columns(db)} from ${joined(db)}
        where applied.organization_id = ${organizationId} and applied.id = ${id}
          and applied.customer_id = ${customerId}
        for no key update of applied`
    : [];
  if (!row) throw refuse.notFound('applied_coupon');
  return row;
}

/** A page of what live customers have or had, newest first. */
export async function listAppliedCoupons(
  { db, organizationId }: Scope,
  query: AppliedCouponsQuery,
): Promise<{ rows: AppliedCouponRow[]; totalCount: Total }> {
  const { limit, offset } = limitOf(query);
  const external = query.external_customer_id;
  const owner = external && liveCustomerId({ db, organizationId }, external);
  // "is not null", since Postgres takes nearly all rows to pass that: of "is null", or of a join, it expects so few
  // that it sorts all.
  const passing = db`
    applied.organization_id = ${organizationId} and (
      select id from customers
      where organization_id = applied.organization_id and id = applied.customer_id and deleted_at is null) is not null
    ${query.status ? db`and applied.status = ${query.status}` : db``}
    ${owner ? db`and applied.customer_id = ${owner}` : db``}
    ${query.coupon_code ? db`and coupon.code = any (${query.coupon_code})` : db``}`;
  const listed = query.coupon_code ? joined(db) : db`applied_coupons applied`;
  const page = db`(
    select applied.* from ${listed} where ${passing}
    order by applied.created_at desc, applied.id desc
    limit ${limit} offset ${offset})`;
  const [rows, totalCount] = await Promise.all([
    db<AppliedCouponRow[]>`
      select ${columns(db)} from ${joined(db, page)} order by applied.created_at desc, applied.id desc`,
    countRecords(db, db`${listed} where ${passing}`),
  ]);
  return { rows, totalCount };
}

/** Whether a customer has or had a coupon. */
export async function hadCoupon(
  { db, organizationId }: Scope,
  { customerId, couponId }: { customerId: CustomerId; couponId: CouponId },
): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from applied_coupons
      where organization_id = ${organizationId} and customer_id = ${customerId} and coupon_id = ${couponId}) as found`;
  return row!.found;
}

/**
 * Whether a limited coupon overlaps an active limited one of the customer: on a plan or metric of both, or on a plan of
 * one that charges a metric of the other. Rule: coupons.md#applying "plan_overlapping".
 */
export async function overlaps(
  { db, organizationId }: Scope,
  { customerId, couponId }: { customerId: CustomerId; couponId: CouponId },
): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    with own as (
      select distinct coupon_id from applied_coupons
      where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'active'
    ),
    target as (
      select link.coupon_id = ${couponId} as is_new, link.coupon_id, link.plan_id, null::uuid as metric_id
      from coupon_plans link
      where link.organization_id = ${organizationId}
        and (link.coupon_id = ${couponId} or link.coupon_id in (select coupon_id from own))
      union all
      select link.coupon_id = ${couponId}, link.coupon_id, null, link.billable_metric_id
      from coupon_billable_metrics link
      where link.organization_id = ${organizationId}
        and (link.coupon_id = ${couponId} or link.coupon_id in (select coupon_id from own))
    ),
    fresh as (select plan_id, metric_id from target where is_new),
    held as (select plan_id, metric_id from target where coupon_id in (select coupon_id from own))
    select exists (
      select from fresh join held on fresh.plan_id = held.plan_id or fresh.metric_id = held.metric_id
        or exists (
          select from charges charge
          where charge.organization_id = ${organizationId} and charge.deleted_at is null
            and ((charge.plan_id = fresh.plan_id and charge.billable_metric_id = held.metric_id)
              or (charge.plan_id = held.plan_id and charge.billable_metric_id = fresh.metric_id)))
    ) as found`;
  return row!.found;
}

export async function hasActiveCoupons({ db, organizationId }: Scope, customerId: CustomerId): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from applied_coupons
      where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'active') as found`;
  return row!.found;
}
