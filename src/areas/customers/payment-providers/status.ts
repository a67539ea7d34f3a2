import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { findProviderById, type ProviderRow } from './queries.ts';

/** What a provider said of credentials that it accepts. */
export interface Checked {
  /** Whether they move real money. */
  isLive: boolean;
}

/** How many calls in a row a provider refuses for their credentials until the connection is failing. */
export const REFUSED_CALLS_MOST = 3;

/** The only action that the published interface has for what a provider refuses to a connection. */
const ACTION = 'payment_provider.register_webhook';

/**
 * Brings a connection to what its provider said of the credentials. That it began to fail is announced; both that and
 * the end of it stand in the security log.
 *
 * Rule: provider-connections.md#checking.
 */
export async function setConnectionStatus(
  ctx: Context,
  { id }: Pick<ProviderRow, 'id'>,
  now: { status: 'connected' | 'failing'; error: string | null; isLive?: boolean },
): Promise<void> {
  const { db, organizationId } = ctx;
  await db`select from payment_providers where organization_id = ${organizationId} and id = ${id} for update`;
  const before = await findProviderById(ctx, id);
  if (!before || before.deleted_at !== null) return;
  await db`
    update payment_providers set status = ${now.status}, last_error = ${now.error},
      live = ${now.isLive ?? before.live}, checked_at = ${realNow()}, updated_at = ${ctx.now()},
      refused_calls = case when ${now.status === 'connected'}::boolean then 0 else refused_calls end
    where organization_id = ${organizationId} and id = ${id}`;
  if (before.status === now.status) return;
  if (before.status === 'failing' || now.status === 'failing') recordStatus(ctx, before, now.status);
  if (now.status === 'failing') recordProviderError(ctx, before, now.error ?? '');
}

function recordStatus(ctx: Context, { id, provider_type, code, status }: ProviderRow, now: string): void {
  const changes = { status: { deleted: status, added: now } };
  ctx.record({
    security: { event: 'integration.updated', resources: { svc_id: id, type: provider_type, code, ...changes } },
  });
}

/** Announces that a provider refused something that concerns the connection as a whole. */
export const recordProviderError = (
  ctx: Context,
  { id, code, name, provider_type }: Pick<ProviderRow, 'id' | 'code' | 'name' | 'provider_type'>,
  message: string,
): void =>
  ctx.record({
    webhook: {
      type: 'payment_provider.error',
      objectType: 'payment_provider_error',
      objectId: id,
      object: {
        svc_payment_provider_id: id,
        payment_provider_code: code,
        payment_provider_name: name,
        source: provider_type,
        action: ACTION,
        provider_error: { message },
      },
    },
  });
