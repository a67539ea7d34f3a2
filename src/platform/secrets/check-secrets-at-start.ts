import { type Config, ConfigError } from '../config.ts';
import type { Sql } from '../db/connect.ts';
import { takeLease } from '../leases/lease.ts';
import type { Runtime } from '../process/runtime.ts';
import { countByKey, FORMER_FORM, NOT_SEALED, openSample, sealAgain } from './sealed-columns.ts';
import {
  configuredKeys,
  DEFAULT_KEY_ID,
  DEPLOYMENT_KEY_ID,
  rememberDeploymentKey,
  UnknownSecretsKey,
} from './secrets.ts';

/** Key of the lease: one process at a time seals again. */
const SEALING = 'seal-former-secrets';

/** Without a key in the settings a dump of the database opens every secret in it, so production refuses to start. */
export function demandSecretsKey(config: Config, environment = process.env.NODE_ENV): void {
  if (environment !== 'production' || configuredKeys(config).length > 0) return;
  throw new ConfigError(
    'SECRETS_KEYS is missing: NODE_ENV=production demands a key for stored secrets, "id:base64 of 32 bytes", for ' +
      'example "a:" and what `openssl rand -base64 32` prints; keep it where the backups of the database are not',
  );
}

/** Ids of keys that have sealed something and are missing from the settings. */
export async function unknownKeys(sql: Sql, config: Config): Promise<string[]> {
  const known = new Set([...configuredKeys(config).map(({ id }) => id), DEPLOYMENT_KEY_ID, NOT_SEALED, FORMER_FORM]);
  return [...new Set((await countByKey(sql)).map(({ key }) => key))].filter((key) => !known.has(key)).sort();
}

/**
 * Proves before a process works that its keys open the stored texts. A key with another value under a known name, or a
 * SECRETS_KEY that does not open the first form, ends the start.
 *
 * @returns ids of keys that the settings lack: the process starts, `/ready` names them
 * @throws ConfigError naming the setting
 */
export async function checkSecrets(sql: Sql, config: Config): Promise<string[]> {
  const unknown = await unknownKeys(sql, config);
  if (configuredKeys(config).length === 0) {
    await rememberDeploymentKey(sql, config).catch((error: Error) => {
      if (!(error instanceof UnknownSecretsKey)) throw error; // it is among the missing ones
    });
  }
  const spoilt = (await openSample(sql, config)).filter(({ key }) => !unknown.includes(key));
  // Texts of the deployment's own keys cannot open without those keys; the missing key is the one to report.
  const [first] =
    unknown.length > 0 ? spoilt.filter(({ key }) => key !== DEPLOYMENT_KEY_ID && key !== FORMER_FORM) : spoilt;
  if (first) {
    const setting =
      first.key === FORMER_FORM || first.key === DEFAULT_KEY_ID ? 'SECRETS_KEY' : `key "${first.key}" of SECRETS_KEYS`;
    throw new ConfigError(
      `${setting} does not open ${first.table}.${first.column} of row ${first.id}: it is not the key that sealed it`,
    );
  }
  return unknown;
}

/**
 * Runs the check at the start of a process; if it fails the process closes its resources. A database that does not
 * answer is ignored here, since `/ready` checks again.
 *
 * @throws ConfigError naming the setting
 */
export async function startWithSecrets({ sql, config, log, close }: Runtime): Promise<void> {
  try {
    demandSecretsKey(config);
    const unknown = await checkSecrets(sql, config);
    if (unknown.length > 0) log.error({ keys: unknown }, 'SECRETS_KEYS lacks keys that have sealed stored secrets');
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      log.warn({ err: (error as Error).message }, 'stored secrets could not be checked');
      return;
    }
    await close();
    throw error;
  }
}

/**
 * Seals with the first key the texts left by older versions or by a start without a key. One process at a time; others
 * skip it.
 *
 * @returns the number of sealed texts, and of those that no key opens
 */
export async function sealFormerSecrets(sql: Sql, config: Config): Promise<{ sealed: number; closed: number }> {
  const nothing = { sealed: 0, closed: 0 };
  if (configuredKeys(config).length === 0) return nothing;
  const lease = await takeLease(sql, SEALING);
  if (!lease) return nothing;
  try {
    const { sealed, closed } = await sealAgain(sql, config, 'former', () => lease.hold());
    return { sealed, closed: closed.length };
  } finally {
    await lease.release();
  }
}
