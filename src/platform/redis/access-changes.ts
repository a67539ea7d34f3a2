import type { Redis } from 'ioredis';
import { accessChangesKey } from './channels.ts';

/** Longer than anything made before a change is kept. */
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
 * Notes that what access checks keep of some scopes of an organization is no longer true. To be called after the commit
 * of the change; one that is lost is made up within a minute, when what is kept ends.
 *
 * scopes  as migration 0067 tells them: `o`, `c:` and a customer's id, `s:` and a subscription's external id
 * Rule: access-check.md "invalidation".
 */
export async function noteAccessChanges(
  redis: Redis,
  prefix: string,
  organizationId: string,
  scopes: readonly string[],
): Promise<void> {
  await redis.eval(NOTE, 1, accessChangesKey(prefix, organizationId), CHANGES_KEPT_SECONDS, ...scopes);
}
