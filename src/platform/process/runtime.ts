import type { Redis } from 'ioredis';
import type { Config } from '../config.ts';
import { connectDatabase, type DatabaseOptions, type Sql } from '../db/connect.ts';
import { createLog, type Log } from '../log/log.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { type SharedMetrics, shareMetrics } from '../metrics/shared-metrics.ts';
import { createProducer, type Producer } from '../queue/producer.ts';
import { partsOf } from '../queue/queue-names.ts';
import { NO_REACTIONS, type Reactions } from '../reactions.ts';
import { connectPatiently } from '../redis/connect.ts';
import { watchFallbacks } from '../redis/fallbacks.ts';
import { onEveryConnection } from '../redis/nodes.ts';

/** The resources of a process: opened once at its start, closed once at its end. */
export interface Runtime {
  config: Config;
  log: Log;
  reactions: Reactions;
  sql: Sql;
  /** Separate connections for a part of the process, at most DATABASE_POOL; closed with the others. */
  openDatabase(name: string, connections: number): Sql;
  /** How many connections to Postgres the process may open, all its parts together. */
  connections(): number;
  /** Connection for queues, replies and short commands. */
  redis: Redis;
  producer: Producer;
  metrics: Metrics;
  sharedMetrics: SharedMetrics;
  /** Counts and shows what goes on without Redis after a call on further connections has failed. */
  noticeFallbacks(connections: readonly Redis[]): void;
  /** Calls back when a connection to Postgres was closed, or a lost one to Redis came back. */
  onReconnect(listener: () => void): void;
  close(): Promise<void>;
}

export function openRuntime(
  config: Config,
  processName: string,
  log: Log = createLog({ level: config.LOG_LEVEL, process: processName }),
  {
    reactions = NO_REACTIONS,
    ownConnections = config.DATABASE_POOL,
    ...database
  }: Pick<DatabaseOptions, 'statementTimeoutMs'> & {
    reactions?: Reactions;
    /** Connections of `sql`; default DATABASE_POOL. */
    ownConnections?: number;
  } = {},
): Runtime {
  const listeners: (() => void)[] = [];
  const reconnected = () => {
    for (const listener of listeners) listener();
  };
  const databases: Sql[] = [];
  const openDatabase = (name: string, connections: number): Sql => {
    const opened = connectDatabase(config.DATABASE_URL, {
      schema: config.DATABASE_SCHEMA,
      connections: Math.min(connections, config.DATABASE_POOL),
      name: `meterstone ${name}`,
      onClose: () => reconnected(),
      ...database,
    });
    databases.push(opened);
    return opened;
  };
  const sql = openDatabase(processName, ownConnections);
  const redis = connectPatiently(config.REDIS_URL, processName);
  redis.once('ready', () => onEveryConnection(redis, reconnected));
  const producer = createProducer(redis, config.REDIS_PREFIX, partsOf(config));
  const metrics = createMetrics(processName);
  const subscriber = connectPatiently(config.REDIS_URL, `${processName} metrics`);
  const sharedMetrics = shareMetrics(metrics, { redis, subscriber }, config.REDIS_PREFIX);
  const noticeFallbacks = (connections: readonly Redis[]) =>
    watchFallbacks(connections, { redis, prefix: config.REDIS_PREFIX, process: processName, log, metrics });
  noticeFallbacks([redis]);
  return {
    config,
    log,
    reactions,
    sql,
    openDatabase,
    connections: () => databases.reduce((sum, { options }) => sum + options.max, 0),
    redis,
    producer,
    metrics,
    sharedMetrics,
    noticeFallbacks,
    onReconnect(listener) {
      listeners.push(listener);
    },
    async close() {
      listeners.length = 0;
      await producer.close();
      await sharedMetrics.close();
      redis.disconnect();
      await Promise.all(databases.map((each) => each.end({ timeout: 5 })));
    },
  };
}
