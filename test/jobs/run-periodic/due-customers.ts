import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Sql } from '../../../src/platform/db/connect.ts';
import type { OrganizationId } from '../../../src/platform/ids.ts';

export const DUE_ON = '2024-03-01T00:00:00Z';
export const TICK = '2024-03-01T00:10:00Z';

/**
 * Copies the only customer and subscription of an organization, so that `count` customers are due at one midnight.
 * Triggers and foreign keys are left out, because the copies are made for reading only.
 */
export async function copyDueCustomer(sql: Sql, organizationId: OrganizationId, count: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe('set local session_replication_role = replica; set local statement_timeout = 0');
    await tx`
      create temporary table copied on commit drop as
      select gen_random_uuid() as customer_id, gen_random_uuid() as subscription_id, n
      from generate_series(2, ${count}::int) n`;
    await copyRows(tx as unknown as Sql, 'customers', organizationId, {
      id: 'copied.customer_id',
      external_id: `'c' || copied.n`,
      slug: `'c' || copied.n`,
      sequential_id: 'copied.n',
    });
    await copyRows(tx as unknown as Sql, 'subscriptions', organizationId, {
      id: 'copied.subscription_id',
      external_id: `'s' || copied.n`,
      customer_id: 'copied.customer_id',
    });
    await tx`
      update subscriptions set next_billing_at = ${DUE_ON} where organization_id = ${organizationId}`;
  });
  await sql.unsafe('analyze customers, subscriptions');
}

/** Each column of the one row, but those that differ. */
async function copyRows(
  sql: Sql,
  table: string,
  organizationId: OrganizationId,
  differing: Record<string, string>,
): Promise<void> {
  const columns = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`;
  const names = columns.map(({ name }) => name);
  await sql.unsafe(`
    insert into ${table} (${names.join(', ')})
    select ${names.map((name) => differing[name] ?? `template.${name}`).join(', ')}
    from ${table} template cross join copied where template.organization_id = '${organizationId}'`);
}

/*
 * Takes all jobs out of a queue as a worker would, and remembers their ids. Returns how many there were, and how many
 * of them had been there before.
 *
 * KEYS jobs with a priority, ids seen · ARGV prefix of a job's key
 */
const DRAIN = `
local ids = redis.call('ZRANGE', KEYS[1], 0, -1)
local again = 0
for _, id in ipairs(ids) do
  if redis.call('SADD', KEYS[2], id) == 0 then again = again + 1 end
  redis.call('UNLINK', ARGV[1] .. id)
end
redis.call('UNLINK', KEYS[1])
return {#ids, again}
`;

/** Key of the ids that a drained queue has had. */
const seenOf = (queue: Queue): string => queue.toKey('seen-by-tests');

/** Forgets what was drained. */
export const forgetDrained = (redis: Redis, queue: Queue) => redis.del(seenOf(queue));

export const listDrained = (redis: Redis, queue: Queue): Promise<string[]> => redis.smembers(seenOf(queue));

/** A queue emptied as if workers had done its work. */
export async function drain(redis: Redis, queue: Queue): Promise<{ jobs: number; again: number }> {
  const [jobs, again] = (await redis.eval(DRAIN, 2, queue.toKey('prioritized'), seenOf(queue), queue.toKey(''))) as [
    number,
    number,
  ];
  return { jobs, again };
}
