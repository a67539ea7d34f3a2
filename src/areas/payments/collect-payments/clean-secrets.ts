import type { Temporal } from 'temporal-polyfill';
import type { OrganizationId, PaymentProviderId } from '../../../platform/ids.ts';
import { ProviderRefusal } from '../../../platform/payments/port.ts';
import type { SweepDeps, SweepJob } from '../../../platform/periodic-job.ts';
import { emptyRetiredSecrets } from '../../customers/integrations/writes.ts';
import { findProviderById, takeRetiredProviders } from '../../customers/payment-providers/queries.ts';
import { connected } from '../provider-network/network.ts';

/** How many connections to other systems one run cleans; more wait for the next day. */
const AT_ONCE = 1000;

/**
 * Removes the secrets of connections that were deleted 30 days ago; of one to a payment provider after it has removed
 * its endpoint there, which ends its inbound events. If the provider is away or no key opens the secret it tries again
 * the next day, because removing the endpoint needs the secret.
 *
 * Rules: provider-connections.md#secrets "deleted connections", integrations.md#secrets-of-deleted-connections.
 */
export const cleanSecrets: SweepJob = {
  name: 'clean-secrets',
  async sweep(deps, at, hold) {
    for (const { organization_id, id } of await emptyRetiredSecrets(deps.sql, at, AT_ONCE))
      deps.log.info({ organization_id, integration_id: id }, 'the secrets of a deleted connection are gone');
    for (const { organization_id: organizationId, id } of await takeRetiredProviders(deps.sql, at)) {
      await hold?.();
      try {
        await endEndpoint(deps, organizationId, id);
        await emptySecrets(deps, organizationId, { id, at });
        deps.log.info(
          { organization_id: organizationId, payment_provider_id: id },
          'the secrets of a deleted connection are gone',
        );
      } catch (error) {
        deps.log.warn(
          { organization_id: organizationId, payment_provider_id: id, err: error },
          'a deleted connection keeps its secrets',
        );
      }
    }
  },
};

async function endEndpoint(deps: SweepDeps, organizationId: OrganizationId, id: PaymentProviderId): Promise<void> {
  const row = await findProviderById({ db: deps.sql, organizationId }, id);
  if (!row || row.inbound_endpoint_id === null) return;
  const connection = await connected(deps, organizationId, id);
  try {
    await connection?.provider.endInbound?.(row.inbound_endpoint_id);
  } catch (error) {
    // The endpoint is gone already, or the account no longer accepts this key: there is nothing left to remove.
    if (!(error instanceof ProviderRefusal)) throw error;
  }
}

async function emptySecrets(
  { sql }: SweepDeps,
  organizationId: OrganizationId,
  { id, at }: { id: PaymentProviderId; at: Temporal.Instant },
): Promise<void> {
  await sql`
    update payment_providers set secrets = '{}', inbound_endpoint_id = null, updated_at = ${at}
    where organization_id = ${organizationId} and id = ${id} and deleted_at is not null`;
}
