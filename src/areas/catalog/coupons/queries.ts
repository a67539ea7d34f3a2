import { z } from 'zod';
import { COUPON_FREQUENCIES, COUPON_TYPES } from '../../../engine/credits/coupon.ts';
import { COUPON_STATUSES } from '../../../engine/credits/coupon-states.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { columnsOf } from '../../../platform/db/rows.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CouponId, MetricId, PlanId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import {
  column,
  computed,
  hidden,
  orNull,
  plain,
  type RowOf,
  type StoredOf,
} from '../../../platform/schema/columns.ts';
import { EXPIRATIONS } from './schema.ts';

const planCodes = (db: Db) => db`
  array(
    select plan.code from coupon_plans link
    join plans plan on plan.organization_id = link.organization_id and plan.id = link.plan_id
    where link.organization_id = coupon.organization_id and link.coupon_id = coupon.id and plan.parent_id is null
    order by plan.code
  )`;

const metricCodes = (db: Db) => db`
  array(
    select metric.code from coupon_billable_metrics link
    join billable_metrics metric
      on metric.organization_id = link.organization_id and metric.id = link.billable_metric_id
    where link.organization_id = coupon.organization_id and link.coupon_id = coupon.id
    order by metric.code
  )`;

/** A coupon as it is stored and shown. Rule: coupons.md#fields "output". */
export const coupons = {
  name: 'coupon',
  table: 'coupons',
  columns: {
    id: column.idOf<CouponId>(),
    name: column.text,
    code: column.text,
    description: orNull(column.text),
    status: hidden(plain(z.enum(COUPON_STATUSES))),
    coupon_type: plain(z.enum(COUPON_TYPES)),
    amount_cents: orNull(column.integer),
    amount_currency: orNull(column.text),
    percentage_rate: orNull(column.decimal),
    frequency: plain(z.enum(COUPON_FREQUENCIES)),
    frequency_duration: orNull(column.integer),
    reusable: column.boolean,
    limited_plans: column.boolean,
    /** Codes of what it is limited to, sorted. */
    plan_codes: computed(column.texts, planCodes),
    limited_billable_metrics: column.boolean,
    billable_metric_codes: computed(column.texts, metricCodes),
    expiration: plain(z.enum(EXPIRATIONS)),
    expiration_at: orNull(column.instant),
    created_at: column.instant,
    terminated_at: orNull(column.instant),
    deleted_at: hidden(orNull(column.instant)),
  },
};
export type CouponRow = RowOf<typeof coupons>;
/** What clients say about a coupon. */
export type CouponDefinition = Omit<
  StoredOf<typeof coupons>,
  'id' | 'status' | 'created_at' | 'terminated_at' | 'deleted_at'
>;

/** Live coupons by id, in no particular order. */
export const listCouponsById = ({ db, organizationId }: Scope, ids: readonly CouponId[]) => db<CouponRow[]>`
  select ${columnsOf(db, coupons)} from coupons coupon
  where coupon.organization_id = ${organizationId} and coupon.id = any (${ids}::uuid[])
    and coupon.deleted_at is null`;

/** Whether a customer has or had it. */
export async function isCouponApplied({ db, organizationId }: Scope, id: CouponId): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from applied_coupons
      where organization_id = ${organizationId} and coupon_id = ${id}) as found`;
  return row!.found;
}

/** Live plans by code; overrides cannot be named. @throws Refusal 404 plans */
export const findTargetedPlans = ({ db, organizationId }: Scope, codes: readonly string[]) =>
  targets(
    codes,
    () => db<{ id: PlanId; code: string }[]>`
      select id, code from plans
      where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null
        and parent_id is null`,
    'plans',
  );

/** Live metrics of codes. @throws Refusal 404 billable_metrics */
export const findTargetedMetrics = ({ db, organizationId }: Scope, codes: readonly string[]) =>
  targets(
    codes,
    () => db<{ id: MetricId; code: string }[]>`
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
