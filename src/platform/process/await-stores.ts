import { setTimeout as sleep } from 'node:timers/promises';
import { connectControl, controlMigrations } from '../cells/directory.ts';
import type { Config } from '../config.ts';
import { hasUnsaidPooler, whySessionsAreWrong } from '../db/check-sessions.ts';
import { connectDatabase } from '../db/connect.ts';
import { whyDriverIsWrong } from '../db/mended-driver.ts';
import { schemaState } from '../db/migrate.ts';
import { whyStandbysAreUnseen } from '../db/synchronous-standby.ts';
import type { Log } from '../log/log.ts';
import { type Probe, placeOf, probePostgres, probeRedis, SET_BEHIND_POOLER } from './probe-stores.ts';

/** Why a process does not start, in one sentence for its operator. */
export class StartRefused extends Error {}

const TRY_EVERY_MS = 500;
/** Interval in which a missing store is reported again. */
const SAY_EVERY_MS = 10_000;

type Stores = Pick<Config, 'DATABASE_URL' | 'REDIS_URL' | 'DATABASE_SCHEMA'> &
  Partial<Pick<Config, 'REQUIRE_SYNCHRONOUS_STANDBY' | 'CELLS'>>;
/** Addresses that a command looks at before it works. */
type Given = Partial<Pick<Config, 'DATABASE_URL' | 'REDIS_URL' | 'MIGRATION_DATABASE_URL'>>;

/**
 * Waits until the stores work and the tables exist. A store that is away is reported at once and waited for, because it
 * comes back by itself and a restart would not help; other faults are refused.
 *
 * @throws StartRefused without the settings, with a driver that is not patched, when a store refuses the login, when a
 *   pooler was not told of, sessions do not have what they need, standbys cannot be seen that must be there, or
 *   migrations are missing
 */
export async function awaitStores(config: Stores, log: Log): Promise<void> {
  demandSettings(config);
  await demandDriver();
  await Promise.all([
    untilItWorks('DATABASE_URL', config.DATABASE_URL, probePostgres, log),
    untilItWorks('REDIS_URL', config.REDIS_URL, probeRedis, log),
  ]);
  await demandSaidPooler('DATABASE_URL', config.DATABASE_URL);
  if (config.CELLS === undefined) await demandSchema(config, log);
  else await demandDirectory(config);
}

/** Prepared statements would fail behind a pooler that lends its sessions. */
async function demandSaidPooler(setting: string, url: string): Promise<void> {
  // A store that went away meanwhile is met again by whoever comes next.
  if (await hasUnsaidPooler(url).catch(() => false))
    throw new StartRefused(`${setting}: ${placeOf(url)} lends sessions for a transaction: ${SET_BEHIND_POOLER}`);
}

/** @throws StartRefused when a given store does not work now: for commands that a person waits for */
export async function demandStores(given: Given): Promise<void> {
  const probes = [
    { setting: 'DATABASE_URL', url: given.DATABASE_URL, probe: probePostgres },
    { setting: 'MIGRATION_DATABASE_URL', url: given.MIGRATION_DATABASE_URL, probe: probePostgres },
    { setting: 'REDIS_URL', url: given.REDIS_URL, probe: probeRedis },
  ];
  await demandDriver();
  await Promise.all(
    probes.map(async ({ setting, url, probe }) => {
      if (!url) return;
      const found = await probe(url);
      if (found.state !== 'works') throw new StartRefused(sentenceOf(setting, url, found));
      if (probe === probePostgres) await demandSaidPooler(setting, url);
    }),
  );
}

async function demandDriver(): Promise<void> {
  const why = await whyDriverIsWrong();
  if (why !== undefined) throw new StartRefused(why);
}

function demandSettings({ DATABASE_URL, REDIS_URL }: Stores): void {
  const missing = Object.entries({ DATABASE_URL, REDIS_URL }).flatMap(([name, url]) => (url === '' ? [name] : []));
  if (missing.length === 0) return;
  throw new StartRefused(`${missing.join(' and ')} must be set: only npm start brings servers of its own`);
}

async function untilItWorks(
  setting: string,
  url: string,
  probe: (url: string) => Promise<Probe>,
  log: Log,
): Promise<void> {
  let saidAt: number | undefined;
  for (;;) {
    const found = await probe(url);
    if (found.state === 'works') break;
    const sentence = sentenceOf(setting, url, found);
    if (found.state === 'wrong') throw new StartRefused(sentence);
    if (saidAt === undefined || performance.now() - saidAt >= SAY_EVERY_MS) {
      log.error({ setting }, `${sentence}; waiting for it`);
      saidAt = performance.now();
    }
    await sleep(TRY_EVERY_MS);
  }
  if (saidAt !== undefined) log.info({ setting }, 'the store answers');
}

const sentenceOf = (setting: string, url: string, found: Exclude<Probe, { state: 'works' }>): string =>
  found.state === 'wrong'
    ? `${setting}: ${placeOf(url)} turns us down: ${found.why}`
    : `${setting}: ${placeOf(url)} cannot be reached: ${found.why}`;

async function demandSchema(config: Stores, log: Log): Promise<void> {
  const sql = connectDatabase(config.DATABASE_URL, {
    schema: config.DATABASE_SCHEMA,
    connections: 1,
    name: 'meterstone start',
  });
  try {
    const wrong = await whySessionsAreWrong(sql);
    if (wrong !== undefined) throw new StartRefused(wrong);
    const unseen = config.REQUIRE_SYNCHRONOUS_STANDBY ? await whyStandbysAreUnseen(sql) : undefined;
    if (unseen !== undefined) throw new StartRefused(unseen);
    const { state, names } = await schemaState(sql);
    if (state === 'behind') {
      throw new StartRefused(`the schema is behind: run "npm run migrate" (${summary(names)} not applied)`);
    }
    // A deployment migrates first, and an old process that restarts meanwhile still works.
    if (state === 'newer') log.warn({ names }, 'the schema is newer than this program: another version migrated it');
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** The directory alone: a cell that is away or behind must not keep a process from the others. */
async function demandDirectory({ DATABASE_URL }: Stores): Promise<void> {
  const control = connectControl({ DATABASE_URL }, 1);
  try {
    const wrong = await whySessionsAreWrong(control);
    if (wrong !== undefined) throw new StartRefused(wrong);
    if ((await schemaState(control, controlMigrations())).state === 'behind')
      throw new StartRefused('CELLS is set, and the directory of cells is not made: run "npm run cells -- add"');
  } finally {
    await control.end({ timeout: 1 });
  }
}

const summary = (names: readonly string[]): string =>
  names.length === 1 ? names[0]! : `${names.length} migrations from ${names[0]} on`;
