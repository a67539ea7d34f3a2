import { seconds } from '../../../platform/schema/view.ts';
import type { AppliedThresholdRow, UsageThresholdRow } from './queries.ts';

/** A threshold of a plan or subscription as the API shows it. */
export const usageThresholdView = (threshold: UsageThresholdRow) => ({
  svc_id: threshold.id,
  ...applicableThresholdView(threshold),
  created_at: seconds(threshold.created_at),
  updated_at: seconds(threshold.updated_at),
});

/** A threshold that applies, wherever it comes from. */
export const applicableThresholdView = ({ threshold_display_name, amount_cents, recurring }: UsageThresholdRow) => ({
  threshold_display_name,
  amount_cents,
  recurring,
});

/** A threshold that a progressive invoice billed. */
export const appliedThresholdView = (applied: AppliedThresholdRow) => ({
  lifetime_usage_amount_cents: applied.lifetime_usage_amount_cents,
  created_at: seconds(applied.applied_at),
  usage_threshold: usageThresholdView(applied),
});
