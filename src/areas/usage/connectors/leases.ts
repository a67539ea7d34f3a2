import type { Db } from '../../../platform/db/connect.ts';
import { textArray } from '../events/storage/array-literal.ts';
import type { Connector } from './dead-letters.ts';

/** How long a part stays with a process that says nothing more of it. */
const LEASE_SECONDS = 30;

/** One row, if the part is now the owner's, for 30 s from now. By the clock of Postgres, which all processes share. */
export const claimLease = (db: Db, { organizationId, code }: Connector, key: string, owner: string) => db`
  insert into ingest_leases as held (organization_id, connector, key, owner, expires_at)
  values (${organizationId}, ${code}, ${key}, ${owner}, clock_timestamp() + ${LEASE_SECONDS} * interval '1 second')
  on conflict (organization_id, connector, key) do update set owner = excluded.owner, expires_at = excluded.expires_at
  where held.owner = excluded.owner or held.expires_at < clock_timestamp()
  returning 1`;

/** The same for some parts, as many as there may be; those that are the owner's already come first. */
export const claimLeases = (
  db: Db,
  { organizationId, code }: Connector,
  keys: readonly string[],
  most: number,
  owner: string,
) => db<{ key: string }[]>`
  insert into ingest_leases as held (organization_id, connector, key, owner, expires_at)
  select ${organizationId}, ${code}, free.key, ${owner}, clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'
  from (
    select wanted.key from unnest(${textArray(keys)}::text[]) as wanted (key)
    left join ingest_leases other on other.organization_id = ${organizationId} and other.connector = ${code}
      and other.key = wanted.key
    where other.owner is null or other.owner = ${owner} or other.expires_at < clock_timestamp()
    order by other.owner is distinct from ${owner}, random() limit ${most}
  ) free
  order by free.key
  on conflict (organization_id, connector, key) do update set owner = excluded.owner, expires_at = excluded.expires_at
  where held.owner = excluded.owner or held.expires_at < clock_timestamp()
  returning key`;

export const releaseLease = (db: Db, { organizationId, code }: Connector, key: string, owner: string) => db`
  delete from ingest_leases
  where organization_id = ${organizationId} and connector = ${code} and key = ${key} and owner = ${owner}`;
