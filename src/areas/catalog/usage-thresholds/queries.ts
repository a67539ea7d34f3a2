import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId, PlanId, SubscriptionId, UsageThresholdId } from '../../../platform/ids.ts';

export interface UsageThresholdRow {
  id: UsageThresholdId;
  amount_cents: number;
  threshold_display_name: string | null;
  recurring: boolean;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  threshold.id, threshold.amount_cents, threshold.threshold_display_name, threshold.recurring, threshold.created_at,
  threshold.updated_at`;

/** Thresholds of some plans: the fixed ones ascending, the recurring one last. */
export const listThresholdsOfPlans = ({ db, organizationId }: Scope, planIds: readonly PlanId[]) => db<
  (UsageThresholdRow & { plan_id: PlanId })[]
>`
  select threshold.plan_id, ${columns(db)} from usage_thresholds threshold
  where threshold.organization_id = ${organizationId} and threshold.plan_id = any (${planIds}::uuid[])
    and threshold.deleted_at is null
  order by threshold.recurring, threshold.amount_cents`;

/**
 * Thresholds that hold for a subscription: its own, else its plan's, else the parent plan's; none when progressive
 * billing is off. The fixed ones ascending, the recurring one last. Rule: progressive-billing.md#usage-thresholds.
 */
export const listApplicableThresholds = ({ db, organizationId }: Scope, subscriptionId: SubscriptionId) => db<
  UsageThresholdRow[]
>`
  with candidate as (
    select threshold.*, case when threshold.subscription_id is not null then 0 when threshold.plan_id = plan.id then 1
      else 2 end as rank
    from subscriptions s
    join plans plan on plan.organization_id = s.organization_id and plan.id = s.plan_id
    join usage_thresholds threshold on threshold.organization_id = s.organization_id and threshold.deleted_at is null
      and (threshold.subscription_id = s.id or threshold.plan_id = plan.id or threshold.plan_id = plan.parent_id)
    where s.organization_id = ${organizationId} and s.id = ${subscriptionId} and not s.progressive_billing_disabled
  )
  select ${columns(db)} from candidate threshold
  where threshold.rank = (select min(rank) from candidate)
  order by threshold.recurring, threshold.amount_cents`;

export interface AppliedThresholdRow extends UsageThresholdRow {
  lifetime_usage_amount_cents: number;
  /** When the invoice was made. */
  applied_at: Temporal.Instant;
}

/** The thresholds that a progressive invoice billed. */
export const listAppliedThresholds = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<AppliedThresholdRow[]>`
  select ${columns(db)}, applied.lifetime_usage_amount_cents, applied.created_at as applied_at
  from applied_usage_thresholds applied
  join usage_thresholds threshold on threshold.organization_id = applied.organization_id
    and threshold.id = applied.usage_threshold_id
  where applied.organization_id = ${organizationId} and applied.invoice_id = ${invoiceId}
  order by threshold.recurring, threshold.amount_cents`;
