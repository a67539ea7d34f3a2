import { createHash, randomUUID } from 'node:crypto';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import { json } from '../../../platform/db/values.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { hmacKeyPlace } from '../../../platform/secrets/secret-places.ts';
import { type SecretSettings, sealText } from '../../../platform/secrets/secrets.ts';
import { documentNumberPrefix } from '../../customers/billing-entities/document-number-prefix.ts';
import { allPermissions } from './permissions.ts';

/** A new organization for the operator: the only place with the key's value, of which a digest is stored. */
export interface CreatedOrganization {
  organization_id: OrganizationId;
  name: string;
  api_key: string;
  hmac_key: string;
}

/**
 * Makes an organization with its default billing entity (same id), one API key with every permission and an HMAC key.
 * An operator's command: it is not reachable over HTTP. Rule: organizations.md.
 *
 * config keys that seal the HMAC key; without one the deployment's own key
 *
 * @throws Refusal 422 name, when blank
 */
export async function createOrganization(
  sql: Sql,
  input: { name: string; sandbox: boolean },
  config: SecretSettings = {},
): Promise<CreatedOrganization> {
  const name = input.name.trim();
  if (name === '') throw refuse.invalid({ name: ['value_is_mandatory'] });
  const id = newId();
  const apiKey = randomUUID();
  const hmacKey = randomUUID();
  const now = realNow();
  const prefix = documentNumberPrefix(name, id);
  await sql.begin(async (tx) => {
    const sealedKey = await sealText({ db: tx, config }, hmacKey, hmacKeyPlace(id));
    await tx`
      insert into organizations (id, name, slug, hmac_key, sandbox, document_number_prefix, created_at, updated_at)
      values (${id}, ${name}, ${slugOf(name, id)}, ${sealedKey}, ${input.sandbox}, ${prefix}, ${now}, ${now})`;
    await tx`
      insert into billing_entities (id, organization_id, code, name, document_number_prefix, created_at, updated_at)
      values (${id}, ${id}, ${snakeCase(name)}, ${name}, ${prefix}, ${now}, ${now})`;
    await tx`
      insert into api_keys (id, organization_id, value_digest, last_four, permissions, created_at, updated_at)
      values (${newId()}, ${id}, ${digestOfKey(apiKey)}, ${apiKey.slice(-4)}, ${json(allPermissions())}, ${now},
        ${now})`;
  });
  return { organization_id: id, name, api_key: apiKey, hmac_key: hmacKey };
}

/** SHA-256 of an API key: all that is stored and looked up (api-keys.md#record). */
export const digestOfKey = (key: string): Buffer => createHash('sha256').update(key).digest();

const words = (name: string): string[] =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? [];
const snakeCase = (name: string): string => words(name).join('_') || 'default';
// The id's tail keeps slugs of equal names apart.
const slugOf = (name: string, id: string): string =>
  `${words(name).join('-').slice(0, 27) || 'organization'}-${id.slice(-12)}`;
