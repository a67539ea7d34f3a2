import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../db/connect.ts';
import { json } from '../db/values.ts';
import type { ApiKeyId, OrganizationId } from '../ids.ts';

/** One request in the form of the API log (logs.md#api-logs); times are real. */
export interface ApiLogRow {
  id: string;
  organization_id: OrganizationId;
  request_id: string;
  api_key_id: ApiKeyId;
  client: string | null;
  http_method: string;
  http_status: number;
  request_origin: string;
  request_path: string;
  request_body: string | null;
  request_response: string | null;
  logged_at: string;
}

/** Inserts rows; an existing row (same id, same time) is left unchanged. */
export async function writeApiLogs(db: Db, rows: ApiLogRow[], createdAt: Temporal.Instant): Promise<void> {
  await db`
    insert into api_logs (id, organization_id, request_id, api_key_id, client, http_method, http_status, request_origin,
      request_path, request_body, request_response, logged_at, created_at)
    select id, organization_id, request_id, api_key_id, client, http_method, http_status, request_origin,
      request_path, request_body, request_response, logged_at, ${createdAt}
    from jsonb_to_recordset(${json(rows)}::jsonb) as row (id uuid, organization_id uuid, request_id text,
      api_key_id uuid,
      client text, http_method text, http_status integer, request_origin text, request_path text, request_body text,
      request_response text, logged_at timestamptz)
    on conflict do nothing`;
}
