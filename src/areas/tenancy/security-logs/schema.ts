import { z } from 'zod';
import { listFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { MANDATORY } from '../../../platform/schema/fields.ts';

/** A security-relevant event about a credential or an outgoing connection. Rule: logs.md#security-logs. */
export const SecurityLogView = z.object({
  log_id: z.uuid(),
  log_type: z.string(),
  log_event: z.string(),
  user_email: z.string().nullable(),
  logged_at: z.iso.datetime(),
  created_at: z.iso.datetime(),
  resources: z.record(z.string(), z.unknown()),
  device_info: z.record(z.string(), z.unknown()),
});
export type SecurityLogView = z.infer<typeof SecurityLogView>;

export const SecurityLogEnvelope = z.object({ security_log: SecurityLogView });
export const SecurityLogList = z.object({ security_logs: z.array(SecurityLogView), meta: PageMeta });

/** Filters of the list; `to_date` is mandatory. Rule: lists.md#filters-and-order, logs.md#security-logs. */
export const SecurityLogsQuery = z.object({
  ...countedPageQuery,
  from_date: fromFilter,
  to_date: untilFilter
    .refine((value) => value !== undefined, MANDATORY)
    .meta({ type: 'string', format: 'date-time', mandatory: true }),
  user_ids: listFilter,
  api_key_ids: listFilter,
  log_types: listFilter,
  log_events: listFilter,
});
export type SecurityLogsQuery = z.infer<typeof SecurityLogsQuery>;
