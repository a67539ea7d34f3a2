import type { Redis } from 'ioredis';
import type { OrganizationId } from '../ids.ts';
import { accessChangesKey } from './channels.ts';

/** Longer than any cache entry made before a change is kept. */
export const CHANGES_KEPT_SECONDS = 600;

/*
 * KEYS changes of the organization
 * ARGV seconds kept, scopes...
 */
const NOTE = `
local n = redis.call('HINCRBY', KEYS[1], 'n', 1)
for i = 2, #ARGV do redis.call('HSET', KEYS[1], ARGV[i], n) end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return n
`;

/**
 * Invalidates the cache of access checks for some scopes of an organization. To be called after the commit of the
 * change; a lost call is made up within a minute, when cached values expire.
 *
 * scopes as migration 0016 defines them: `o`, `c:` and a customer's id, `s:` and a subscription's external id
 * Rule: access-check.md "invalidation".
 */
export async function noteAccessChanges(
  redis: Redis,
  prefix: string,
  organizationId: OrganizationId,
  scopes: readonly string[],
): Promise<void> {
  await redis.eval(NOTE, 1, accessChangesKey(prefix, organizationId), CHANGES_KEPT_SECONDS, ...scopes);
}
