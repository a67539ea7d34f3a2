import { once } from 'node:events';
import { type Config, doubtfulSettings, loadConfig } from '../../platform/config.ts';
import { demandStores } from '../../platform/process/await-stores.ts';
import { whyLinksLeadNowhere } from '../../platform/public-url.ts';
import { configuredKeys } from '../../platform/secrets/secrets.ts';
import { bringServices, defaultDataDir } from '../../platform/services/discover.ts';
import { alreadyRunning, claimRun } from '../../platform/services/run-file.ts';
import { localSecretsKey } from '../../platform/services/secrets-file.ts';
import { prepareDatabase } from './prepare-database.ts';
import { announce } from './print-address-and-key.ts';
import { addressesOf, choosePublicPort } from './service-address.ts';
import { superviseChildren } from './supervise-children.ts';
import { superviseServers } from './supervise-servers.ts';
import { waitUntilReady } from './wait-until-ready.ts';

export interface LaunchInput {
  say: (line: string) => void;
  /** Receives the function that stops each thing right after its start. */
  undo: (() => Promise<void> | void)[];
  /** Aborted when everything must stop. */
  stop: AbortSignal;
}

/**
 * Starts everything from nothing: Postgres and Redis, the schema, a demo organization where there is none, one ingress
 * process and one process with every worker pool. Resolves when `stop` was aborted.
 *
 * @throws Error with a readable message, for example when it runs already on the same data; the caller stops what was
 *   started
 */
export async function launch({ say, undo, stop }: LaunchInput): Promise<void> {
  const startedAt = performance.now();
  const given = loadConfig();
  for (const line of doubtfulSettings()) say(line);
  const nowhere = whyLinksLeadNowhere(given);
  if (nowhere !== undefined && process.env.NODE_ENV === 'production') throw new Error(nowhere);
  if (nowhere !== undefined) say(nowhere);
  const dataDir = defaultDataDir();

  const claim = await claimRun(dataDir, say);
  if ('taken' in claim) throw new Error(alreadyRunning(claim.taken));
  const runFile = claim.claimed;
  undo.push(() => runFile.remove());

  const secrets = await secretsKeyOf(given, dataDir, say);
  const config = loadConfig({ ...process.env, ...secrets });
  const addresses = addressesOf(config, await choosePublicPort(config, say));
  await demandStores(config);
  const services = await timed(say, 'Postgres and Redis are ready', () =>
    bringServices({ databaseUrl: config.DATABASE_URL, redisUrl: config.REDIS_URL, dataDir, log: say }),
  );
  undo.push(() => services.stop());
  if (stop.aborted) return;

  const demo = await timed(say, 'the database is up to date', () =>
    prepareDatabase(services.databaseUrl, config, dataDir, say),
  );
  if (stop.aborted) return;

  const noteRun = (facts: { baseUrl?: string } = {}) =>
    runFile.update({
      ...facts,
      databaseUrl: services.databaseUrl,
      redisUrl: services.redisUrl,
      settings: {
        WIRE_PREFIX: config.WIRE_PREFIX,
        DATABASE_SCHEMA: config.DATABASE_SCHEMA,
        REDIS_PREFIX: config.REDIS_PREFIX,
      },
      origin: services.origin,
      children: children.pids(),
    });
  const children = superviseChildren({
    dataDir,
    say,
    environment: () => ({
      DATABASE_URL: services.databaseUrl,
      REDIS_URL: services.redisUrl,
      PORT: String(addresses.port),
      ...secrets,
    }),
    onRestart: () => noteRun().catch((error: Error) => say(`run.json could not be written: ${error.message}`)),
  });
  undo.push(() => children.stop());
  await noteRun();

  const isReady = await waitUntilReady(addresses.ready, children, stop);
  if (!isReady) return;
  await noteRun({ baseUrl: addresses.api });
  undo.push(superviseServers({ services, children, say, onMove: noteRun }));

  say(announce({ addresses, demo, dataDir, seconds: secondsSince(startedAt) }));
  if (!stop.aborted) await once(stop, 'abort');
}

/**
 * SECRETS_KEYS of the data folder, where the settings have no key: made at the first start.
 * Rule: provider-connections.md#secrets.
 */
async function secretsKeyOf(config: Config, dataDir: string, say: (line: string) => void) {
  if (configuredKeys(config).length > 0) return {};
  const { madeAt, SECRETS_KEYS } = await localSecretsKey(dataDir);
  if (madeAt) say(`a key for stored secrets was made: back up ${madeAt}, but not beside the database`);
  return { SECRETS_KEYS };
}

async function timed<T>(say: (line: string) => void, done: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  say(`${done} (${secondsSince(startedAt)} s)`);
  return result;
}

const secondsSince = (startedAt: number): string => ((performance.now() - startedAt) / 1000).toFixed(1);
