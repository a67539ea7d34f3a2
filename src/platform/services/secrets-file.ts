import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readText, writePrivateFile } from './small-file.ts';

const KEY_BYTES = 32;
/** Distinguishes data folders: a key that was lost and created again has another name. */
const ID_BYTES = 4;

const fileOf = (dataDir: string): string => join(dataDir, 'secrets.key');

/** The setting SECRETS_KEYS that `npm start` made for its data folder; empty if it made none. */
export async function readLocalSecretsKey(dataDir: string): Promise<{ SECRETS_KEYS?: string }> {
  const text = (await readText(fileOf(dataDir)))?.trim();
  return text ? { SECRETS_KEYS: text } : {};
}

/**
 * The key of a data folder, created if missing: stored beside the database, not in it, for this user only.
 *
 * @returns the setting, and the file of a new one
 */
export async function localSecretsKey(dataDir: string): Promise<{ SECRETS_KEYS: string; madeAt?: string }> {
  const { SECRETS_KEYS: known } = await readLocalSecretsKey(dataDir);
  if (known !== undefined) return { SECRETS_KEYS: known };
  const file = fileOf(dataDir);
  const made = `local-${randomBytes(ID_BYTES).toString('hex')}:${randomBytes(KEY_BYTES).toString('base64')}`;
  // Written completely or not at all, because half a key would lock the secrets of the whole one.
  await writePrivateFile(file, `${made}\n`);
  return { SECRETS_KEYS: made, madeAt: file };
}
