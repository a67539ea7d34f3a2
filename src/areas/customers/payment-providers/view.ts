import type { Config } from '../../../platform/config.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { capabilitiesOf } from '../../../platform/payments/providers.ts';
import { publicUrl } from '../../../platform/public-url.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { ProviderRow, ShownProviderRow } from './queries.ts';
import type { ProviderView } from './schema.ts';

/** Where a provider sends its events. Rule: provider-connections.md#inbound-events. */
export const inboundUrl = (
  config: Config,
  organizationId: OrganizationId,
  provider: Pick<ProviderRow, 'provider_type' | 'code'>,
): string =>
  `${publicUrl(config)}/webhooks/${provider.provider_type}/${organizationId}?code=${encodeURIComponent(provider.code)}`;

/**
 * A connection as the API shows it, with the last four characters of its secrets. Rule: provider-connections.md#routes.
 */
export const providerView = (row: ShownProviderRow, config: Config, organizationId: OrganizationId): ProviderView => ({
  svc_id: row.id,
  type: row.provider_type,
  emulates: row.emulates,
  code: row.code,
  name: row.name,
  success_redirect_url: row.success_redirect_url,
  ...Object.fromEntries(Object.entries(row.secrets_last4).map(([name, last4]) => [`${name}_last4`, last4])),
  ...row.settings,
  settings: row.settings,
  capabilities: [...capabilitiesOf(row)],
  live: row.live,
  status: row.status,
  last_error: row.last_error,
  inbound_url: inboundUrl(config, organizationId, row),
  customers_count: row.customers_count,
  drifts_open: row.drifts_open,
  reconciled_at: secondsOrNull(row.reconciled_at),
  created_at: seconds(row.created_at),
});
