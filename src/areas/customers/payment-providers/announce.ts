import type { Context } from '../../../platform/context.ts';
import { recordChange } from '../../../platform/records/record-change.ts';
import { securityDiff } from '../../../platform/records/security-log.ts';
import type { ShownProviderRow } from './queries.ts';
import type { ProviderView } from './schema.ts';
import { providerView } from './view.ts';

/**
 * Writes what happened to a connection into the audit trail and the security log. Rules: logs.md#security-logs,
 * other-routes.md#records.
 */
export function recordProvider(
  ctx: Context,
  action: 'created' | 'updated' | 'deleted',
  provider: ShownProviderRow,
  before?: ShownProviderRow,
): void {
  const view = (row: ShownProviderRow) => providerView(row, ctx.config, ctx.organizationId);
  const object = view(provider);
  const former = before ? view(before) : undefined;
  recordChange(ctx, {
    name: 'payment_provider',
    resourceType: 'PaymentProvider',
    action,
    object,
    ...(former ? { before: former } : {}),
  });
  const { svc_id, type, code } = object;
  const changes = former ? securityDiff(settled(former), settled(object)) : {};
  ctx.record({ security: { event: `integration.${action}`, resources: { svc_id, type, code, ...changes } } });
}

/** Fields without those that the service determines itself. */
const settled = ({ status: _status, last_error: _error, customers_count: _count, ...view }: ProviderView) => view;
