import { randomUUID } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import { json } from '../../../platform/db/values.ts';
import type { ApiKeyId, OrganizationId } from '../../../platform/ids.ts';
import { isUuid, newId } from '../../../platform/ids.ts';
import { writeSecurityLogs } from '../../../platform/records/security-log.ts';
import { refuse } from '../../../platform/refusal.ts';
import { hmacKeyPlace } from '../../../platform/secrets/secret-places.ts';
import { openText, type SecretSettings } from '../../../platform/secrets/secrets.ts';
import { type CreatedOrganization, digestOfKey } from './commands.ts';
import { OPERATOR } from './operator-actor.ts';

interface KeyRow {
  id: ApiKeyId;
  name: string | null;
  permissions: object;
  last_four: string;
}

/**
 * Replaces an API key: a new one with the permissions of the old, which is valid until `expiresAt`, else no longer. An
 * operator's command; its caller announces the change (`keyChangesChannel`) once it is done.
 * Rules: api-keys.md#lifecycle, logs.md#security-logs.
 *
 * @param input.lastFour names the key when the organization has several valid ones
 * @throws Refusal 404 organization, api_key
 * @throws Refusal 422 last_four value_is_mandatory, when it takes one to choose; expires_at invalid_date, in the past
 */
export async function rotateApiKey(
  sql: Sql,
  input: { organizationId: OrganizationId; lastFour?: string; name?: string; expiresAt?: Temporal.Instant },
  config: SecretSettings = {},
): Promise<CreatedOrganization> {
  const now = realNow();
  const { organizationId, expiresAt = now } = input;
  if (Temporal.Instant.compare(expiresAt, now) < 0) throw refuse.invalid({ expires_at: ['invalid_date'] });
  if (!isUuid(organizationId)) throw refuse.notFound('organization');
  const value = randomUUID();
  return sql.begin(async (tx) => {
    const [organization] = await tx<{ name: string; hmac_key: string }[]>`
      select name, hmac_key from organizations where id = ${organizationId} for no key update`;
    if (!organization) throw refuse.notFound('organization');
    const keys = await tx<KeyRow[]>`
      select id, name, permissions, last_four from api_keys
      where organization_id = ${organizationId} and (expires_at is null or expires_at > ${now})
      order by id`;
    const old = chosenKey([...keys], input.lastFour);
    await tx`
      update api_keys set expires_at = ${expiresAt}, updated_at = ${now}
      where organization_id = ${organizationId} and id = ${old.id}`;
    const key = { svc_id: newId(), name: input.name ?? old.name, last4: value.slice(-4) };
    await tx`
      insert into api_keys (id, organization_id, name, value_digest, last_four, permissions, created_at, updated_at)
      values (${key.svc_id}, ${organizationId}, ${key.name}, ${digestOfKey(value)}, ${key.last4},
        ${json(old.permissions)}, ${now}, ${now})`;
    const resources = { ...key, last4: { deleted: old.last_four, added: key.last4 } };
    await writeSecurityLogs(tx, { organizationId, actor: OPERATOR, realNow: now }, [
      { event: 'api_key.rotated', resources },
    ]);
    return {
      organization_id: organizationId,
      name: organization.name,
      api_key: value,
      hmac_key: await openText({ db: tx, config }, organization.hmac_key, hmacKeyPlace(organizationId)),
    };
  });
}

function chosenKey(keys: KeyRow[], lastFour: string | undefined): KeyRow {
  const candidates = lastFour === undefined ? keys : keys.filter((key) => key.last_four === lastFour);
  const [key, another] = candidates;
  if (!key) throw refuse.notFound('api_key');
  if (another) throw refuse.invalid({ last_four: ['value_is_mandatory'] });
  return key;
}
