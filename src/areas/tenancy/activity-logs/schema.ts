import { z } from 'zod';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';

const SOURCES = ['api', 'front', 'system'] as const;

/** One entry of the audit trail. Rule: logs.md#activity-logs. */
export const ActivityLogView = z.object({
  activity_id: z.uuid(),
  activity_type: z.string(),
  activity_source: z.enum(SOURCES),
  activity_object: z.record(z.string(), z.unknown()).nullable(),
  activity_object_changes: z.record(z.string(), z.unknown()),
  user_email: z.string().nullable(),
  resource_id: z.uuid(),
  resource_type: z.string(),
  external_customer_id: z.string().nullable(),
  external_subscription_id: z.string().nullable(),
  organization_id: z.uuid(),
  logged_at: z.iso.datetime(),
  created_at: z.iso.datetime(),
});
export type ActivityLogView = z.infer<typeof ActivityLogView>;

export const ActivityLogEnvelope = z.object({ activity_log: ActivityLogView });
export const ActivityLogList = z.object({ activity_logs: z.array(ActivityLogView), meta: PageMeta });

/** Filters of the list, all optional; a word that no entry has matches nothing. Rule: lists.md#filters-and-order. */
export const ActivityLogsQuery = z.object({
  ...countedPageQuery,
  from_date: fromFilter,
  to_date: untilFilter,
  activity_types: listFilter,
  activity_sources: listFilter.meta({ type: 'array', items: { type: 'string', enum: SOURCES } }),
  user_emails: listFilter,
  external_customer_id: textFilter,
  external_subscription_id: textFilter,
  resource_ids: listFilter,
  resource_types: listFilter,
});
export type ActivityLogsQuery = z.infer<typeof ActivityLogsQuery>;
