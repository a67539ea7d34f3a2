import { createHash } from 'node:crypto';
import type { IntegrationId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { configuredKeys, type Deployment, openText, sealText } from '../../../platform/secrets/secrets.ts';
import { accountOfKey } from '../../../platform/taxes/anrok.ts';
import { SANDBOX_TAX_KEY } from '../../../platform/taxes/sandbox.ts';
import type { IntegrationRow } from './queries.ts';

const placeOf = (integrationId: IntegrationId, name: string) => ({
  table: 'integrations',
  row: integrationId,
  field: `secrets.${name}`,
});

/** What is stored of a key. */
export interface SealedKey {
  secrets: Record<string, string>;
  secrets_last4: Record<string, string>;
  /** Undefined where there is no new key. */
  account_fingerprint: string | null | undefined;
}

/**
 * Seals the key of a connection.
 *
 * @throws Refusal 422 api_key secrets_key_missing, outside sandboxes where no key is set
 * Rule: provider-connections.md#secrets.
 */
export async function sealApiKey(
  deployment: Deployment & { sandbox: boolean },
  integrationId: IntegrationId,
  apiKey: string | undefined,
): Promise<SealedKey> {
  if (apiKey === undefined) return { secrets: {}, secrets_last4: {}, account_fingerprint: undefined };
  if (!deployment.sandbox && configuredKeys(deployment.config).length === 0)
    throw refuse.invalid({ api_key: ['secrets_key_missing'] });
  const sealed = await sealText(deployment, apiKey, placeOf(integrationId, 'api_key'));
  return {
    secrets: { api_key: sealed },
    secrets_last4: { api_key: apiKey.slice(-4) },
    account_fingerprint: fingerprintOf(apiKey),
  };
}

/**
 * Seals the secret that signs what is posted to an access point.
 *
 * @throws Refusal 422 shared_secret secrets_key_missing, where no key is set
 */
export async function sealSharedSecret(
  deployment: Deployment,
  integrationId: IntegrationId,
  sharedSecret: string | undefined,
): Promise<SealedKey> {
  if (sharedSecret === undefined) return { secrets: {}, secrets_last4: {}, account_fingerprint: undefined };
  if (configuredKeys(deployment.config).length === 0) throw refuse.invalid({ shared_secret: ['secrets_key_missing'] });
  const sealed = await sealText(deployment, sharedSecret, placeOf(integrationId, 'shared_secret'));
  return {
    secrets: { shared_secret: sealed },
    secrets_last4: { shared_secret: sharedSecret.slice(-4) },
    account_fingerprint: undefined,
  };
}

/** The secret of an access point; undefined when its secrets were emptied. */
export const readSharedSecret = async (
  deployment: Deployment,
  { id, secrets }: Pick<IntegrationRow, 'id' | 'secrets'>,
): Promise<string | undefined> =>
  secrets.shared_secret === undefined
    ? undefined
    : openText(deployment, secrets.shared_secret, placeOf(id, 'shared_secret'));

/** The key of a connection; undefined when its secrets were emptied. */
export async function readApiKey(
  deployment: Deployment,
  { id, secrets }: Pick<IntegrationRow, 'id' | 'secrets'>,
): Promise<string | undefined> {
  return secrets.api_key === undefined ? undefined : openText(deployment, secrets.api_key, placeOf(id, 'api_key'));
}

/**
 * Which account a key reaches, as text that tells nothing of the key: two connections to one account have the same. The
 * double of sandboxes keeps nothing, so it has none.
 *
 * Rule: integrations.md#accounts.
 */
const fingerprintOf = (apiKey: string): string | null =>
  apiKey === SANDBOX_TAX_KEY
    ? null
    : createHash('sha256')
        .update(`anrok:${accountOfKey(apiKey)}`)
        .digest('hex');
