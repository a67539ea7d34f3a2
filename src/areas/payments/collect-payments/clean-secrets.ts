import type { Temporal } from 'temporal-polyfill';
import { ProviderRefusal } from '../../../platform/payments/port.ts';
import type { SweepDeps, SweepJob } from '../../../platform/periodic-job.ts';
import { listRetiredProviders } from '../../customers/payment-providers/queries.ts';
import { connected } from '../provider-network/network.ts';

/** How many connections one run cleans, each with a call to its provider; more wait for the next day. */
const AT_ONCE = 100;

/**
 * Removes the secrets of connections that were deleted 30 days ago, after it has removed their endpoint at the
 * provider, which ends their inbound events. If the provider is away or no key opens the secret it tries again the next
 * day, because removing the endpoint needs the secret.
 *
 * Rule: provider-connections.md#secrets "deleted connections".
 */
export const cleanSecrets: SweepJob = {
  name: 'clean-secrets',
  async sweep(deps, at) {
    for (const retired of await listRetiredProviders(deps.sql, at, AT_ONCE)) {
      const { organization_id: organizationId, id } = retired;
      try {
        await endEndpoint(deps, retired);
        await emptySecrets(deps, retired, at);
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

type Retired = Awaited<ReturnType<typeof listRetiredProviders>>[number];

async function endEndpoint(deps: SweepDeps, { id, organization_id, inbound_endpoint_id }: Retired): Promise<void> {
  if (inbound_endpoint_id === null) return;
  const connection = await connected(deps, organization_id, id);
  try {
    await connection?.provider.endInbound?.(inbound_endpoint_id);
  } catch (error) {
    // The endpoint is gone already, or the account no longer accepts this key: there is nothing left to remove.
    if (!(error instanceof ProviderRefusal)) throw error;
  }
}

async function emptySecrets({ sql }: SweepDeps, { id, organization_id }: Retired, at: Temporal.Instant): Promise<void> {
  await sql`
    update payment_providers set secrets = '{}', inbound_endpoint_id = null, updated_at = ${at}
    where organization_id = ${organization_id} and id = ${id} and deleted_at is not null`;
}
