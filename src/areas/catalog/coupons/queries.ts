import type { Temporal } from 'temporal-polyfill';
import type { CouponFrequency, CouponType } from '../../../engine/credits/coupon.ts';
import type { CouponStatus } from '../../../engine/credits/coupon-states.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { EXPIRATIONS } from './schema.ts';

/** What clients say about a coupon. */
export interface CouponDefinition {
  code: string;
  name: string;
  description: string | null;
  coupon_type: CouponType;
  amount_cents: number | null;
  amount_currency: string | null;
  percentage_rate: Decimal | null;
  frequency: CouponFrequency;
  frequency_duration: number | null;
  reusable: boolean;
  expiration: (typeof EXPIRATIONS)[number];
  expiration_at: Temporal.Instant | null;
  limited_plans: boolean;
  limited_billable_metrics: boolean;
}

export interface CouponRow extends CouponDefinition {
  id: string;
  status: CouponStatus;
  /** Codes of what it is limited to, sorted. */
  plan_codes: string[];
  billable_metric_codes: string[];
  terminated_at: Temporal.Instant | null;
  deleted_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  coupon.id, coupon.code, coupon.name, coupon.description, coupon.status, coupon.coupon_type, coupon.amount_cents,
  coupon.amount_currency, coupon.percentage_rate, coupon.frequency, coupon.frequency_duration, coupon.reusable,
  coupon.expiration, coupon.expiration_at, coupon.limited_plans, coupon.limited_billable_metrics,
  coupon.terminated_at, coupon.deleted_at, coupon.created_at,
  array(
    select plan.code from coupon_plans link
    join plans plan on plan.organization_id = link.organization_id and plan.id = link.plan_id
    where link.organization_id = coupon.organization_id and link.coupon_id = coupon.id and plan.parent_id is null
    order by plan.code
  ) as plan_codes,
  array(
    select metric.code from coupon_billable_metrics link
    join billable_metrics metric
      on metric.organization_id = link.organization_id and metric.id = link.billable_metric_id
    where link.organization_id = coupon.organization_id and link.coupon_id = coupon.id
    order by metric.code
  ) as billable_metric_codes`;

export async function findCoupon(db: Db, organizationId: string, code: string): Promise<CouponRow | undefined> {
  const [row] = await db<CouponRow[]>`
    select ${columns(db)} from coupons coupon
    where coupon.organization_id = ${organizationId} and coupon.code = ${code} and coupon.deleted_at is null`;
  return row;
}

/** @throws Refusal 404 coupon */
export async function getCoupon(db: Db, organizationId: string, code: string): Promise<CouponRow> {
  const row = await findCoupon(db, organizationId, code);
  if (!row) throw refuse.notFound('coupon');
  return row;
}

/**
 * As getCoupon; until the transaction ends nobody else changes it, nor applies it (`change`) or ends it (`use`).
 *
 * @throws Refusal 404 coupon
 */
export async function lockCoupon(
  db: Db,
  organizationId: string,
  code: string,
  purpose: 'change' | 'use' = 'change',
): Promise<CouponRow> {
  const [row] = await db<CouponRow[]>`
    select ${columns(db)} from coupons coupon
    where coupon.organization_id = ${organizationId} and coupon.code = ${code} and coupon.deleted_at is null
    ${purpose === 'change' ? db`for update of coupon` : db`for share of coupon`}`;
  if (!row) throw refuse.notFound('coupon');
  return row;
}

/** Live coupons by id, in no order. */
export const listCouponsById = (db: Db, organizationId: string, ids: readonly string[]) => db<CouponRow[]>`
  select ${columns(db)} from coupons coupon
  where coupon.organization_id = ${organizationId} and coupon.id = any (${ids}::uuid[])
    and coupon.deleted_at is null`;

/** Whether a customer has or had it. */
export async function isCouponApplied(db: Db, organizationId: string, id: string): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from applied_coupons
      where organization_id = ${organizationId} and coupon_id = ${id}) as found`;
  return row!.found;
}

/** Active ones first, then those without an end, then those that end first, newest first. Rule: coupons.md#fields. */
export async function listCoupons(
  db: Db,
  organizationId: string,
  page: Page,
): Promise<{ rows: CouponRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const [rows, [count]] = await Promise.all([
    db<CouponRow[]>`
      select ${columns(db)} from coupons coupon
      where coupon.organization_id = ${organizationId} and coupon.deleted_at is null
      order by coupon.status, coupon.expiration, coupon.expiration_at, coupon.created_at desc, coupon.id desc
      limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`
      select count(*) as total from coupons where organization_id = ${organizationId} and deleted_at is null`,
  ]);
  return { rows, totalCount: count!.total };
}

/** Live plans of codes, by code; overrides have none of their own. @throws Refusal 404 plans */
export const findTargetedPlans = (db: Db, organizationId: string, codes: readonly string[]) =>
  targets(
    codes,
    () => db<{ id: string; code: string }[]>`
      select id, code from plans
      where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null
        and parent_id is null`,
    'plans',
  );

/** Live metrics of codes. @throws Refusal 404 billable_metrics */
export const findTargetedMetrics = (db: Db, organizationId: string, codes: readonly string[]) =>
  targets(
    codes,
    () => db<{ id: string; code: string }[]>`
      select id, code from billable_metrics
      where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null`,
    'billable_metrics',
  );

async function targets(
  codes: readonly string[],
  find: () => PromiseLike<{ id: string; code: string }[]>,
  resource: string,
): Promise<{ id: string; code: string }[]> {
  if (codes.length === 0) return [];
  const found = await find();
  if (found.length < new Set(codes).size) throw refuse.notFound(resource);
  return found;
}
