import type { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { CouponId, OrganizationId } from '../../../platform/ids.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { idOf } from '../../../platform/schema/id.ts';
import { terminateExpired } from '../../catalog/coupons/writes.ts';

interface DueCoupon {
  organization_id: OrganizationId;
  sandbox: boolean;
  id: CouponId;
}

/**
 * Ends coupons whose time is over: they are no longer applied, while those that customers have go on.
 * Rules: periodic-jobs.md#expire-coupons, coupons.md#fields.
 */
export const expireCoupons = periodicJob({
  name: 'expire-coupons',
  item: z.object({ coupon_id: idOf<CouponId>() }),
  async select(sql, at, reach, page) {
    const rows = keyset(sql, page, sql`coupon.organization_id`, sql`coupon.expiration_at, coupon.id`);
    const due = await sql<(DueCoupon & Placed)[]>`
      select coupon.organization_id, organization.sandbox, coupon.id, ${rows.place}
      from coupons coupon
      join organizations organization on organization.id = coupon.organization_id
      where coupon.status = 'active' and coupon.expiration = 'time_limit' and coupon.deleted_at is null
        and coupon.expiration_at < ${at} and ${inReach(sql, reach, sql`coupon.organization_id`)}
        and ${rows.isBehind}
      ${rows.order}`;
    return selected(due, page, ({ organization_id, sandbox, id }) => ({
      organization_id,
      sandbox,
      item: { coupon_id: id },
      key: id,
      resource: { type: 'Coupon', id },
    }));
  },
  async work(ctx, { coupon_id: id }, at) {
    await terminateExpired(ctx, id, { at, now: ctx.now() });
  },
  async nextDueAt({ db: sql, organizationId }) {
    const [first] = await sql<{ at: Temporal.Instant | null }[]>`
      select min(expiration_at) as at from coupons
      where organization_id = ${organizationId} and status = 'active' and expiration = 'time_limit'
        and deleted_at is null`;
    return first!.at?.add({ microseconds: 1 }) ?? null;
  },
});
