import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { flatPermissions } from './permissions-input.ts';
import type { ApiKeyRow, CurrentApiKeyRow } from './queries.ts';
import type { ApiKeyView, CurrentApiKeyView } from './schema.ts';

/** A key as the API shows it: its value is in the answer of the command that made it and in no other. */
export const apiKeyView = (key: ApiKeyRow): ApiKeyView => ({
  svc_id: key.id,
  svc_organization_id: key.organization_id,
  name: key.name,
  last4: key.last_four,
  permissions: key.permissions as ApiKeyView['permissions'],
  expires_at: secondsOrNull(key.expires_at),
  last_used_at: secondsOrNull(key.last_used_at),
  created_at: seconds(key.created_at),
  updated_at: seconds(key.updated_at),
});

export const currentApiKeyView = (key: CurrentApiKeyRow): CurrentApiKeyView => ({
  svc_id: key.id,
  name: key.name,
  last4: key.last_four,
  permissions: key.permissions as CurrentApiKeyView['permissions'],
  expires_at: secondsOrNull(key.expires_at),
  organization: {
    svc_id: key.organization_id,
    name: key.organization_name,
    slug: key.organization_slug,
    sandbox: key.sandbox,
  },
});

/** A key as the security log shows it, with flat permissions. Rule: api-keys.md#lifecycle, logs.md#security-logs. */
export const securityView = (key: ApiKeyRow) => ({
  svc_id: key.id,
  name: key.name,
  last4: key.last_four,
  permissions: flatPermissions(key.permissions),
});
