import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { json } from '../../../platform/db/values.ts';
import type { ApiKeyRow } from './queries.ts';

export const insertApiKey = (db: Db, key: ApiKeyRow, digest: Buffer) => db`
  insert into api_keys (id, organization_id, name, value_digest, last_four, permissions, expires_at, created_at,
    updated_at)
  values (${key.id}, ${key.organization_id}, ${key.name}, ${digest}, ${key.last_four}, ${json(key.permissions)},
    ${key.expires_at}, ${key.created_at}, ${key.updated_at})`;

export const updateApiKeyRow = (db: Db, key: ApiKeyRow) => db`
  update api_keys set name = ${key.name}, permissions = ${json(key.permissions)}, updated_at = ${key.updated_at}
  where organization_id = ${key.organization_id} and id = ${key.id}`;

/** Limits the validity of a key to `at`, or to an earlier end that it has already. */
export const expireApiKey = (
  db: Db,
  key: ApiKeyRow,
  { at, now }: { at: Temporal.Instant; now: Temporal.Instant },
) => db`
  update api_keys set expires_at = least(expires_at, ${at}), updated_at = ${now}
  where organization_id = ${key.organization_id} and id = ${key.id}`;
