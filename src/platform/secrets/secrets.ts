import { randomBytes } from 'node:crypto';
import { realNow } from '../clock/real-clock.ts';
import type { Config } from '../config.ts';
import type { Db } from '../db/connect.ts';
import { newId } from '../ids.ts';
import {
  isFormerForm,
  keyIdOf,
  keyOfText,
  openFormer,
  openWith,
  type Place,
  type SealingKey,
  sealWith,
} from './seal.ts';

export type SecretSettings = Pick<Config, 'SECRETS_KEYS' | 'SECRETS_KEY'>;

/** Where sealed texts are stored, and the keys of the settings. Structural: a context can be passed. */
export interface Deployment {
  db: Db;
  config: SecretSettings;
}

/** Key id of SECRETS_KEY. */
export const DEFAULT_KEY_ID = 'default';
/** Key stored in the database itself, for deployments without a setting; it does not protect a stolen dump. */
export const DEPLOYMENT_KEY_ID = 'deployment';
const DEPLOYMENT_KEY_BYTES = 32;

/** A sealed text names a key that neither the settings nor the database have. */
export class UnknownSecretsKey extends Error {
  readonly keyId: string;

  constructor(keyId: string) {
    super(`SECRETS_KEYS has no key "${keyId}", which sealed a stored secret`);
    this.keyId = keyId;
  }
}

/** Keys of the settings; the first one seals. Rule: provider-connections.md#secrets "keys". */
export function configuredKeys({ SECRETS_KEYS: named = [], SECRETS_KEY: single }: SecretSettings): SealingKey[] {
  return single === undefined ? named : [...named, { id: DEFAULT_KEY_ID, bytes: keyOfText(single) }];
}

/** Seals a text for its place with the first key of the settings, else with the deployment's own. */
export const sealText = async (deployment: Deployment, text: string, place: Place): Promise<string> =>
  sealWith(await sealingKey(deployment), text, place);

/** The key that seals now. */
export const sealingKey = async ({ db, config }: Deployment): Promise<SealingKey> =>
  configuredKeys(config)[0] ?? (await deploymentKey(db, config));

/**
 * Opens a stored text; one that was never sealed is returned unchanged.
 *
 * @throws UnknownSecretsKey
 * @throws Error when no key opens it at this place
 */
export async function openText(deployment: Deployment, stored: string, place: Place): Promise<string> {
  if (isFormerForm(stored)) return openFormerText(deployment, stored);
  const id = keyIdOf(stored);
  if (id === undefined) return stored;
  const { db, config } = deployment;
  const key = configuredKeys(config).find((each) => each.id === id);
  if (key) return openWith(key, stored, place);
  if (id === DEPLOYMENT_KEY_ID) return openWith(await deploymentKey(db, config), stored, place);
  throw new UnknownSecretsKey(id);
}

/** The first form was sealed by SECRETS_KEY, or by the secret of links if that was not set; both are tried. */
async function openFormerText({ db, config }: Deployment, stored: string): Promise<string> {
  const keys = config.SECRETS_KEY === undefined ? [] : [keyOfText(config.SECRETS_KEY)];
  for (const key of keys) {
    const text = tryToOpen(key, stored);
    if (text !== undefined) return text;
  }
  const links = await db<{ id: string; private_key: string }[]>`
    select id, private_key from deployment_keys where purpose = 'links' order by created_at desc`;
  for (const { id, private_key } of links) {
    const secret = await openText({ db, config }, private_key, privateKeyPlace(id));
    const text = tryToOpen(keyOfText(secret), stored);
    if (text !== undefined) return text;
  }
  throw new Error('SECRETS_KEY does not open a stored secret of the former form');
}

function tryToOpen(key: Buffer, stored: string): string | undefined {
  try {
    return openFormer(key, stored);
  } catch {
    return undefined; // sealed by another key
  }
}

export const privateKeyPlace = (id: string): Place => ({ table: 'deployment_keys', row: id, field: 'private_key' });

/** Keys known to be committed, by the settings of their process: see rememberDeploymentKey. */
const remembered = new WeakMap<SecretSettings, SealingKey>();

/**
 * Reads the deployment's own key, created if missing, outside of any transaction, and caches it, so that no look-up is
 * needed later if no key is set.
 */
export async function rememberDeploymentKey(db: Db, config: SecretSettings): Promise<void> {
  remembered.set(config, await deploymentKey(db, config));
}

async function deploymentKey(db: Db, config: SecretSettings): Promise<SealingKey> {
  const known = remembered.get(config);
  if (known) return known;
  const found = await findDeploymentKey(db, config);
  if (found) return found;
  await db`
    insert into deployment_keys (id, purpose, private_key, created_at)
    values (${newId()}, 'sealing', ${randomBytes(DEPLOYMENT_KEY_BYTES).toString('base64')}, ${realNow()})
    on conflict (purpose) where retired_at is null do nothing`;
  return (await findDeploymentKey(db, config))!;
}

async function findDeploymentKey(db: Db, config: SecretSettings): Promise<SealingKey | undefined> {
  const [row] = await db<{ id: string; private_key: string }[]>`
    select id, private_key from deployment_keys where purpose = 'sealing' and retired_at is null`;
  if (!row) return undefined;
  const text = await openText({ db, config }, row.private_key, privateKeyPlace(row.id));
  return { id: DEPLOYMENT_KEY_ID, bytes: Buffer.from(text, 'base64') };
}
