import type { OrganizationId } from '../ids.ts';
/**
 * Channel on which changed, rotated and deleted API keys and organizations are announced: `{organization_id}` as JSON.
 */
export const keyChangesChannel = (prefix: string): string => `${prefix}:key-changes`;

/** Hash of API key id → milliseconds of its last use; the job `key-usage` copies it to Postgres. */
export const keyUsageKey = (prefix: string): string => `${prefix}:key-usage`;

/**
 * Hash of the last changes in an organization, which invalidate the cache of its access checks: scope → number of its
 * last change, and `n`, the number of the newest one. Its tag is that of the counters (redis-cluster.md#keys).
 */
export const accessChangesKey = (prefix: string, organizationId: OrganizationId): string =>
  `${prefix}:acc-changes:{${organizationId}}`;

/** Up to where a replica must have come before an organization reads from it (read-replicas.md#read-your-writes). */
export const positionKey = (prefix: string, organizationId: OrganizationId): string =>
  `${prefix}:position:{${organizationId}}`;
