import type { Context } from '../../../platform/context.ts';
import { recordChange } from '../../../platform/records/record-change.ts';
import { securityDiff } from '../../../platform/records/security-log.ts';
import type { IntegrationRow } from './queries.ts';
import type { IntegrationView } from './schema.ts';
import { integrationView } from './view.ts';

/**
 * Writes what happened to a connection into the audit trail and the security log. Rules: logs.md#security-logs,
 * integrations.md#routes.
 */
export function recordIntegration(
  ctx: Context,
  action: 'created' | 'updated' | 'deleted',
  integration: IntegrationRow,
  before?: IntegrationRow,
): void {
  const object = integrationView(integration, ctx);
  const former = before ? integrationView(before, ctx) : undefined;
  recordChange(ctx, {
    name: 'integration',
    resourceType: 'Integration',
    action,
    object,
    ...(former ? { before: former } : {}),
  });
  const { svc_id, type, code } = object;
  const changes = former ? securityDiff(settled(former), settled(object)) : {};
  ctx.record({ security: { event: `integration.${action}`, resources: { svc_id, type, code, ...changes } } });
}

/** Fields without those that the service determines itself. */
const settled = ({ status: _status, last_error: _error, customers_count: _count, ...view }: IntegrationView) => view;

/** Announces that a connection no longer works. Rule: webhooks.md#event-types `integration.provider_error`. */
export function recordProviderError(
  ctx: Context,
  integration: IntegrationRow,
  fault: { code: string; message: string },
): void {
  ctx.record({
    webhook: {
      type: 'integration.provider_error',
      objectType: 'provider_error',
      objectId: integration.id,
      object: {
        svc_integration_id: integration.id,
        provider: integration.integration_type,
        provider_code: integration.code,
        provider_error: { message: fault.message, error_code: fault.code },
      },
    },
  });
}
