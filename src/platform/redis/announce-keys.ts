import type { Redis } from 'ioredis';
import type { OrganizationId } from '../ids.ts';
import { keyChangesChannel } from './channels.ts';
import { noteFallback } from './fallbacks.ts';

/**
 * Longest wait for the announcement; an ingress that misses it drops its cache within a minute
 * (api-keys.md#authentication).
 */
const TIMEOUT_MS = 1000;

/** Makes every ingress drop what it caches with an organization's keys. */
export const announceKeys =
  (redis: Redis, prefix: string) =>
  async (organizationId: OrganizationId): Promise<void> => {
    const message = JSON.stringify({ organization_id: organizationId });
    const published = redis
      .publish(keyChangesChannel(prefix), message)
      .catch((error) => noteFallback(redis, 'key announcements', error)); // caches expire within a minute
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, TIMEOUT_MS);
    });
    await Promise.race([published, late]);
    clearTimeout(timer);
  };
