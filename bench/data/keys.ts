import type { Environment } from '../harness/environment.ts';

const A_STATEMENT = 1_000_000;

/** Keys of events that came within the last 30 days and are gone, in the order in which they came. */
export async function fillKeys({ sql }: Environment, organizationId: string, count: number): Promise<void> {
  for (let done = 0; done < count; done += A_STATEMENT)
    await sql`
      insert into event_keys (organization_id, transaction_hash, subscription_hash, digest, event_timestamp, event_id)
      select ${organizationId}::uuid, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
        now() - interval '30 days', gen_random_uuid()
      from generate_series(1, ${Math.min(A_STATEMENT, count - done)}::int)`;
  await sql.unsafe('vacuum (analyze) event_keys');
}
