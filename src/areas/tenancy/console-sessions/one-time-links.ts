import { randomBytes } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { type ApiKeyId, isUuid, type OrganizationId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { digestOf } from './csrf-token.ts';

const CODE_BYTES = 32;
const LIVES = Temporal.Duration.from({ minutes: 10 });

/**
 * Makes a code that signs in once, within ten minutes, with a key: the oldest living one of the organization unless
 * `keyId` names another.
 *
 * @returns the fragment of a link, which no log sees
 * @throws Refusal 404 organization, api_key; 422 organization value_is_mandatory, when it takes an id to choose
 */
export async function makeOneTimeLink(
  db: Db,
  { organization, keyId }: { organization: string; keyId?: ApiKeyId },
  now: Temporal.Instant,
): Promise<{ organizationId: OrganizationId; path: string }> {
  const found = await db<{ id: OrganizationId }[]>`
    select id from organizations
    where name = ${organization} or slug = ${organization}
      ${isUuid(organization) ? db`or id = ${organization}` : db``}
    order by created_at, id limit 2`;
  if (found.length === 0) throw refuse.notFound('organization');
  if (found.length > 1) throw refuse.invalid({ organization: ['value_is_mandatory'] });
  const organizationId = found[0]!.id;
  const [key] =
    keyId === undefined || isUuid(keyId)
      ? await db<{ id: ApiKeyId }[]>`
          select id from api_keys
          where organization_id = ${organizationId} and (expires_at is null or expires_at > ${now})
            ${keyId === undefined ? db`` : db`and id = ${keyId}`}
          order by created_at, id limit 1`
      : [];
  if (!key) throw refuse.notFound('api_key');
  const code = randomBytes(CODE_BYTES).toString('base64url');
  await db`
    insert into console_codes (digest, api_key_id, expires_at)
    values (${digestOf(code)}, ${key.id}, ${now.add(LIVES)})`;
  return { organizationId, path: `/console#enter=${code}` };
}

/** The key of a code that was never used and has not expired; it is used up with the caller's transaction. */
export async function useCode(db: Db, code: string, now: Temporal.Instant): Promise<ApiKeyId | undefined> {
  const [row] = await db<{ api_key_id: ApiKeyId }[]>`
    update console_codes set used_at = ${now}
    where digest = ${digestOf(code)} and used_at is null and expires_at > ${now}
    returning api_key_id`;
  return row?.api_key_id;
}
