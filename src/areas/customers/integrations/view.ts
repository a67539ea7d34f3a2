import type { Context } from '../../../platform/context.ts';
import { publicUrl } from '../../../platform/public-url.ts';
import { seconds } from '../../../platform/schema/view.ts';
import type { CallRow, IntegrationRow, MappingRow } from './queries.ts';
import type { IntegrationView } from './schema.ts';

/** A connection as the API shows it, with the last four characters of its secrets. Rule: integrations.md#routes. */
export const integrationView = (
  row: IntegrationRow,
  ctx: Pick<Context, 'config' | 'organizationId'>,
): IntegrationView => ({
  svc_id: row.id,
  type: row.integration_type,
  category: row.category,
  code: row.code,
  name: row.name,
  ...Object.fromEntries(Object.entries(row.secrets_last4).map(([name, last4]) => [`${name}_last4`, last4])),
  settings: row.settings,
  status: row.status,
  last_error: row.last_error,
  live: row.live,
  ...(row.category === 'e_invoicing' && row.live ? { inbound_url: reportsUrl(row, ctx) } : {}),
  customers_count: row.customers_count,
  created_at: seconds(row.created_at),
});

/** Where an access point reports what became of documents. Rule: integrations.md#access-points. */
const reportsUrl = (
  { integration_type: type, code }: IntegrationRow,
  { config, organizationId }: Pick<Context, 'config' | 'organizationId'>,
): string => `${publicUrl(config)}/webhooks/${type}/${organizationId}?code=${encodeURIComponent(code)}`;

export const mappingView = ({ resource_type, resource_code, external_id, external_name }: MappingRow) => ({
  resource_type,
  resource_code: resource_type === 'default' ? null : resource_code,
  external_id,
  external_name,
});

export const callView = (call: CallRow) => ({
  at: seconds(call.created_at),
  operation: call.operation,
  svc_resource_id: call.resource_id,
  http_status: call.http_status,
  duration_ms: call.duration_ms,
  error: call.error,
  body: call.body,
});
