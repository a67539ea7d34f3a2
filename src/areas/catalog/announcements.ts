import type { FilterValues } from '../../engine/metrics/choose-filter.ts';
import type { CouponId, MetricId, PlanId, TaxId } from '../../platform/ids.ts';
import { announcement } from '../../platform/reactions.ts';

/** Events in the catalogue that other areas have to follow; src/reactions.ts names who does. */

export const couponDeleted = announcement<{ coupon_id: CouponId }>('coupon.deleted');

/** Plans that are deleted, overrides before the plan they were made of; the caller marks the plan afterwards. */
export const plansEnd = announcement<{ plan_ids: readonly PlanId[] }>('plans.end');

/** A plan's own price changed; its row is stored. */
export const planAmountChanged = announcement<{ plan_id: PlanId }>('plan.amount_changed');

/** A tax was given to all customers of the default billing entity, or taken from them. */
export const taxOfOrganizationChanged = announcement<{ tax_id: TaxId; is_applied: boolean }>(
  'tax.applied_to_organization_changed',
);

/** A billable metric declares other filter values than before. */
export const metricFiltersChanged = announcement<{ billable_metric_id: MetricId; declared: FilterValues }>(
  'billable_metric.filters_changed',
);

export const metricDeleted = announcement<{ billable_metric_id: MetricId }>('billable_metric.deleted');
