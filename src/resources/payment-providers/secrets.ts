import type { Context } from '../../platform/context.ts';
import { linkSecret } from '../../platform/keys/deployment-keys.ts';
import { seal, unseal } from '../../platform/secrets/seal.ts';
import type { ProviderRow } from './queries.ts';

type Deployment = Pick<Context, 'db' | 'config'>;

const keyOf = async ({ db, config }: Deployment): Promise<string> => config.SECRETS_KEY ?? (await linkSecret(db));

/** Secrets as they are stored, and what may be shown of them: never in answers, logs or webhooks. Rule: beyond 13.1. */
export async function sealSecrets(
  deployment: Deployment,
  secrets: Record<string, string>,
): Promise<{ secrets: Record<string, string>; secrets_last4: Record<string, string> }> {
  const key = await keyOf(deployment);
  const each = (change: (text: string) => string) =>
    Object.fromEntries(Object.entries(secrets).map(([name, text]) => [name, change(text)]));
  return { secrets: each((text) => seal(text, key)), secrets_last4: each((text) => text.slice(-4)) };
}

/** A secret of a connection; undefined when it has none of that name. */
export async function readSecret(
  deployment: Deployment,
  provider: Pick<ProviderRow, 'secrets'>,
  name: string,
): Promise<string | undefined> {
  const sealed = provider.secrets[name];
  return sealed === undefined ? undefined : unseal(sealed, await keyOf(deployment));
}
