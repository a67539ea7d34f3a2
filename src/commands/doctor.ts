import { Command } from 'commander';
import { type Config, doubtfulSettings, loadConfig } from '../platform/config.ts';
import { whySessionsAreWrong } from '../platform/db/check-sessions.ts';
import { connectDatabase, type Sql } from '../platform/db/connect.ts';
import { schemaState } from '../platform/db/migrate.ts';
import { isPooled } from '../platform/db/session-settings.ts';
import { CLOCK_WARNS_MS, listEnrolled, mostConnections } from '../platform/process/enrolled-processes.ts';
import { placeOf, probePostgres, probeRedis } from '../platform/process/probe-stores.ts';
import { allStoredNames, partsOf } from '../platform/queue/queue-names.ts';
import { standingQueues } from '../platform/queue/queue-progress.ts';
import { connectImpatiently, untilConnected } from '../platform/redis/connect.ts';
import { seenFallbacks } from '../platform/redis/fallbacks.ts';
import { defaultDataDir } from '../platform/services/discover.ts';
import { findRunning } from '../platform/services/run-file.ts';

const ANSWER_WITHIN_MS = 4_000;

new Command('doctor')
  .description(
    'look at settings, stores, schema and queues as the processes would meet them; ends with 1 when something is wrong',
  )
  .parse();

/**
 * `meterstone doctor`: looks at settings, stores, schema and queues of a service as its processes would meet them; of
 * the running `npm start` unless DATABASE_URL and REDIS_URL are set. It prints one line each and exits with 1 if
 * something is wrong.
 */
let isWell = true;
const say = (ok: boolean, line: string) => {
  isWell &&= ok;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${line}`);
};

try {
  const running = await findRunning(defaultDataDir());
  const config = loadConfig({ ...running?.settings, ...process.env });
  say(true, 'the settings are valid');
  for (const line of doubtfulSettings()) say(false, line);
  const databaseUrl = config.DATABASE_URL || running?.databaseUrl;
  const redisUrl = config.REDIS_URL || running?.redisUrl;
  const [hasDatabase, hasRedis] = await Promise.all([
    look('DATABASE_URL', databaseUrl, probePostgres),
    look('REDIS_URL', redisUrl, probeRedis),
  ]);
  if (hasDatabase) await lookAtSchema(databaseUrl!, config);
  if (hasDatabase && hasRedis) await lookAtConnections(databaseUrl!, redisUrl!, config);
  if (hasRedis) await lookAtQueues(redisUrl!, config);
} catch (error) {
  say(false, (error as Error).message);
}
process.exit(isWell ? 0 : 1);

async function look(setting: string, url: string | undefined, probe: typeof probePostgres): Promise<boolean> {
  if (!url) say(false, `${setting} is not set, and no service runs here`);
  if (!url) return false;
  const found = await probe(url);
  say(found.state === 'works', `${setting}: ${placeOf(url)} ${found.state === 'works' ? 'answers' : found.why}`);
  return found.state === 'works';
}

async function lookAtSchema(url: string, { DATABASE_SCHEMA: schema }: Config): Promise<void> {
  const sql = connectDatabase(url, { schema, connections: 1, name: 'meterstone doctor' });
  const { state, names } = await schemaState(sql);
  const differing = names.length === 0 ? '' : `: ${names.length} migrations from ${names[0]} on`;
  say(state === 'current', `the schema "${schema}" is ${state}${differing}`);
  await lookAtSessions(sql);
  await sql.end({ timeout: 1 });
}

async function lookAtSessions(sql: Sql): Promise<void> {
  const wrong = await whySessionsAreWrong(sql);
  say(wrong === undefined, wrong ?? 'sessions have the time zone and the search path that the service needs');
}

/** Behind a pooler the processes may open more connections than Postgres lets in. */
async function lookAtConnections(databaseUrl: string, redisUrl: string, config: Config): Promise<void> {
  const sql = connectDatabase(databaseUrl, { connections: 1, name: 'meterstone doctor' });
  const redis = connectImpatiently(redisUrl, 'meterstone doctor', ANSWER_WITHIN_MS);
  await untilConnected(redis);
  const [processes, most] = await Promise.all([listEnrolled(redis, config.REDIS_PREFIX), mostConnections(sql)]);
  const wanted = processes.reduce((sum, { connections }) => sum + connections, 0);
  say(
    wanted <= most || isPooled(databaseUrl),
    `${processes.length} processes may open ${wanted} connections; Postgres lets ${most} in`,
  );
  for (const { name, copy, clockAheadMs } of processes) {
    const isOff = Math.abs(clockAheadMs ?? 0) > CLOCK_WARNS_MS;
    if (isOff) say(false, `the clock of ${name} (${copy}) is ${clockAheadMs} ms off that of Postgres`);
  }
  redis.disconnect();
  await sql.end({ timeout: 1 });
}

async function lookAtQueues(url: string, config: Config): Promise<void> {
  const { REDIS_PREFIX: prefix } = config;
  const redis = connectImpatiently(url, 'meterstone doctor', ANSWER_WITHIN_MS);
  await untilConnected(redis);
  const standing = await standingQueues(redis, prefix, allStoredNames(partsOf(config)));
  say(
    standing.length === 0,
    standing.length === 0 ? 'every queue moves' : `queues stand still: ${standing.join(', ')}`,
  );
  for (const { what, means, reason, process: where } of await seenFallbacks(redis, prefix))
    say(false, `${what}: ${means}, as ${where} says: ${reason}`);
  redis.disconnect();
}
