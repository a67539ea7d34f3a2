import { z } from 'zod';
import { selected } from '../../../platform/db/keyset.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { idOf } from '../../../platform/schema/id.ts';
import { earliestMark, listMarked, USAGE_ACTIVITY } from '../../catalog/usage-thresholds/usage-marks.ts';
import { watchUsage } from './watch-usage.ts';

/**
 * Looks at the usage of marked subscriptions. In real time a mark is nudged within a second and this job finds those
 * whose nudge was lost; under a test clock marks wait for it. Rule: periodic-jobs.md#usage-activity.
 */
export const usageActivity = periodicJob({
  name: USAGE_ACTIVITY,
  item: z.object({ subscription_id: idOf<SubscriptionId>() }),
  select: async (sql, at, reach, page) =>
    selected(await listMarked(sql, at, reach, page), page, ({ organization_id, sandbox, subscription_id }) => ({
      organization_id,
      sandbox,
      item: { subscription_id },
      key: subscription_id,
      resource: { type: 'Subscription', id: subscription_id },
    })),
  work: (ctx, item) => watchUsage(ctx, item.subscription_id),
  nextDueAt: (scope) => earliestMark(scope),
});

/**
 * The same marks on the schedule of lifetime usage, which is counted whenever usage is: only a mark asks for it. Rule:
 * periodic-jobs.md#lifetime-usage.
 */
export const lifetimeUsage = { ...usageActivity, name: 'lifetime-usage' };
