import { z } from 'zod';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { HTTP_METHODS, statusFilter } from './filters.ts';

/** One write as it came in and was answered; secrets are filtered. Rule: logs.md#api-logs. */
export const ApiLogView = z.object({
  request_id: z.string(),
  api_version: z.string(),
  client: z.string(),
  http_method: z.enum(HTTP_METHODS),
  http_status: z.int(),
  request_origin: z.string(),
  request_path: z.string(),
  request_body: z.string(),
  request_response: z.string().optional(),
  logged_at: z.iso.datetime(),
  created_at: z.iso.datetime(),
});
export type ApiLogView = z.infer<typeof ApiLogView>;

export const ApiLogEnvelope = z.object({ api_log: ApiLogView });
export const ApiLogList = z.object({ api_logs: z.array(ApiLogView), meta: PageMeta });

/** Filters of the list, all optional. Rule: lists.md#filters-and-order, logs.md#api-logs. */
export const ApiLogsQuery = z.object({
  ...countedPageQuery,
  from_date: fromFilter,
  to_date: untilFilter,
  http_methods: listFilter
    .transform((methods) => methods?.map((method) => method.toLowerCase()))
    .meta({ type: 'array', items: { type: 'string', enum: HTTP_METHODS } }),
  http_statuses: statusFilter,
  api_version: textFilter,
  request_paths: listFilter.meta({ type: 'string' }),
  clients: listFilter,
  api_key_ids: listFilter,
});
export type ApiLogsQuery = z.infer<typeof ApiLogsQuery>;
