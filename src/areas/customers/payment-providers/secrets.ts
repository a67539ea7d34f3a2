import { refuse } from '../../../platform/refusal.ts';
import { configuredKeys, type Deployment, openText, sealText } from '../../../platform/secrets/secrets.ts';
import type { ProviderRow } from './queries.ts';

const placeOf = (providerId: string, name: string) => ({
  table: 'payment_providers',
  row: providerId,
  field: `secrets.${name}`,
});

/**
 * Refuses credentials of a live account where a dump of the database alone would reveal them.
 *
 * @throws Refusal 422 <field> secrets_key_missing, outside sandboxes where no key is set.
 * Rule: provider-connections.md#secrets "no key"
 */
export function demandKeyFor(
  { sandbox, config }: Pick<Deployment, 'config'> & { sandbox: boolean },
  secrets: Record<string, string>,
): void {
  if (sandbox || configuredKeys(config).length > 0 || Object.keys(secrets).length === 0) return;
  throw refuse.invalid(Object.fromEntries(Object.keys(secrets).map((name) => [name, ['secrets_key_missing']])));
}

/**
 * Secrets as they are stored, and the parts of them that may be shown; secrets never appear in answers, logs or
 * webhooks.
 * Rule: provider-connections.md#routes.
 */
export async function sealSecrets(
  deployment: Deployment,
  providerId: string,
  secrets: Record<string, string>,
): Promise<{ secrets: Record<string, string>; secrets_last4: Record<string, string> }> {
  const sealed: Record<string, string> = {};
  for (const [name, text] of Object.entries(secrets)) {
    sealed[name] = await sealText(deployment, text, placeOf(providerId, name));
  }
  const last4 = Object.entries(secrets).map(([name, text]) => [name, text.slice(-4)]);
  return { secrets: sealed, secrets_last4: Object.fromEntries(last4) };
}

/** A secret of a connection; undefined when it has none of that name. */
export async function readSecret(
  deployment: Deployment,
  provider: Pick<ProviderRow, 'id' | 'secrets'>,
  name: string,
): Promise<string | undefined> {
  const sealed = provider.secrets[name];
  return sealed === undefined ? undefined : openText(deployment, sealed, placeOf(provider.id, name));
}

/** The open secrets of a connection, by their names. */
export async function readSecrets(
  deployment: Deployment,
  provider: Pick<ProviderRow, 'id' | 'secrets'>,
): Promise<Record<string, string>> {
  const opened: Record<string, string> = {};
  for (const name of Object.keys(provider.secrets)) {
    const text = await readSecret(deployment, provider, name);
    if (text !== undefined) opened[name] = text;
  }
  return opened;
}

/** Error that a sandbox connection shows, and is refused with, when its key or account is live. */
export const LIVE_KEY_IN_SANDBOX = 'live_key_in_sandbox';
