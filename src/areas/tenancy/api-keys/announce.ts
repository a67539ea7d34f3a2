import type { Context, SecurityEvent } from '../../../platform/context.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import { secondsOrNull } from '../../../platform/schema/view.ts';
import type { ApiKeyRow } from './queries.ts';
import { apiKeyView, securityView } from './view.ts';

/**
 * Records a change of a key: a line in the audit trail, one in the security log with name, last characters and flat
 * permissions, and a message to every ingress. Rule: api-keys.md#lifecycle, logs.md#security-logs,
 * other-routes.md#records.
 */
export const recordCreated = (ctx: Context, key: ApiKeyRow): void => {
  const { permissions, ...shown } = securityView(key);
  record(ctx, 'created', { key, resources: { ...shown, permissions: { deleted: [], added: permissions } } });
};

export const recordUpdated = (ctx: Context, before: ApiKeyRow, after: ApiKeyRow): void => {
  const [former, present] = [securityView(before), securityView(after)];
  const changes = changedKeys(apiKeyView(before), apiKeyView(after));
  const isRenamed = former.name !== present.name;
  const difference = {
    deleted: former.permissions.filter((each) => !present.permissions.includes(each)),
    added: present.permissions.filter((each) => !former.permissions.includes(each)),
  };
  const isPermitted = difference.deleted.length + difference.added.length > 0;
  record(ctx, 'updated', {
    key: after,
    resources: {
      svc_id: present.svc_id,
      last4: present.last4,
      name: isRenamed ? { deleted: former.name, added: present.name } : present.name,
      ...(isPermitted ? { permissions: difference } : {}),
    },
    changes,
  });
};

export const recordRotated = (ctx: Context, old: ApiKeyRow, key: ApiKeyRow): void => {
  const { permissions: _same, ...shown } = securityView(key);
  record(ctx, 'rotated', { key, resources: { ...shown, last4: { deleted: old.last_four, added: key.last_four } } });
};

export const recordDeleted = (ctx: Context, key: ApiKeyRow): void => {
  const { permissions, ...shown } = securityView(key);
  const expiresAt = secondsOrNull(key.expires_at);
  record(ctx, 'deleted', {
    key,
    resources: { ...shown, expires_at: expiresAt, permissions: { deleted: permissions, added: [] } },
  });
};

function record(
  ctx: Context,
  action: 'created' | 'updated' | 'rotated' | 'deleted',
  {
    key,
    resources,
    changes,
  }: { key: ApiKeyRow; resources: SecurityEvent['resources']; changes?: Record<string, [unknown, unknown]> },
): void {
  const type = action === 'rotated' ? 'created' : action;
  ctx.record({
    activity: {
      type: `api_key.${type}`,
      resourceType: 'ApiKey',
      resourceId: key.id,
      object: apiKeyView(key),
      ...(changes ? { changes } : {}),
    },
    security: { event: `api_key.${action}`, resources },
    keysChanged: true,
  });
}
