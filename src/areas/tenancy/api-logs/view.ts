import { present, seconds } from '../../../platform/schema/view.ts';
import type { ApiLogRow } from './queries.ts';
import type { ApiLogView } from './schema.ts';

/** A row as the API shows it; an answer without a body has no `request_response`. */
export const apiLogView = (log: ApiLogRow): ApiLogView => ({
  request_id: log.request_id,
  api_version: log.api_version,
  client: log.client ?? '',
  http_method: log.http_method,
  http_status: log.http_status,
  request_origin: log.request_origin,
  request_path: log.request_path,
  request_body: log.request_body ?? '{}',
  ...present({ request_response: log.request_response }),
  logged_at: seconds(log.logged_at),
  created_at: seconds(log.created_at),
});
