import { json } from '../../platform/db/values.ts';
import type { SweepJob } from '../../platform/periodic-job.ts';
import { keyUsageKey } from '../../platform/redis/channels.ts';

/**
 * Copies the last use of API keys from Redis to their rows (api-keys.md#authentication, periodic-jobs.md#key-usage).
 */
export const keyUsage: SweepJob = {
  name: 'key-usage',
  async sweep({ sql, redis, config }) {
    const key = keyUsageKey(config.REDIS_PREFIX);
    const used = Object.entries(await redis.hgetall(key)).map(([id, ms]) => ({ id, at: Number(ms) }));
    if (used.length === 0) return;
    await sql`
      update api_keys set last_used_at = used.at
      from (select id, to_timestamp(at / 1000.0) as at from jsonb_to_recordset(${json(used)}::jsonb) as row (id uuid,
        at numeric)) used
      where api_keys.id = used.id and (last_used_at is null or last_used_at < used.at)`;
    await redis.hdel(key, ...used.map(({ id }) => id)); // a use recorded at this moment may be lost
  },
};
