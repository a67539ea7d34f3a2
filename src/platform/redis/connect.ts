import { type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { type RedisAddress, readRedisAddress } from './address.ts';
import { EndableCluster } from './cluster.ts';

export type { Redis } from 'ioredis';

const reconnect = (attempt: number) => Math.min(50 * 2 ** attempt, 1000);

/** How often a client asks which node serves what, so that a node that is silent instead of gone is left as well. */
const LOOK_FOR_NODES_EVERY_MS = 3000;
/** How long a node may take to say so, before another one is asked. */
const ASKED_FOR_MS = 1500;
/** Wait before a command is sent again while a cluster chooses another master. */
const AGAIN_AFTER_MS = 100;

/** Connection of a queue, a worker or a subscriber, which waits for Redis to come back for any time. */
export const connectPatiently = (url: string, name: string): Redis =>
  openRedis(
    url,
    { ...shared(name), maxRetriesPerRequest: null },
    { maxRedirections: Number.POSITIVE_INFINITY, retryDelayOnFailover: AGAIN_AFTER_MS },
  );

/**
 * Connection of the limiters: a stopped Redis fails a call at once instead of making a request hang
 * (rate-limits.md#leases).
 */
export const connectImpatiently = (url: string, name: string, commandTimeoutMs: number): Redis =>
  openRedis(
    url,
    { ...shared(name), maxRetriesPerRequest: 0, commandTimeout: commandTimeoutMs, enableOfflineQueue: false },
    // A node that is away fails a call as well, so nothing is sent again but what another node is to answer.
    { enableOfflineQueue: false, retryDelayOnFailover: 0, retryDelayOnClusterDown: 0, connectsNodes: true },
  );

const shared = (name: string): RedisOptions => ({
  connectionName: name,
  retryStrategy: reconnect,
  enableReadyCheck: true,
  lazyConnect: false,
});

interface OfCluster extends ClusterOptions {
  /** Connects to every node at once, not with the first call to it: where no call waits, that one would fail. */
  connectsNodes?: boolean;
}

/**
 * Opens a client for whatever the address names. That of a cluster has the same commands and events, and is passed as
 * the same type: what differs is in this folder. Rule: redis-cluster.md#addresses.
 */
export function openRedis(
  url: string,
  options: RedisOptions,
  { connectsNodes = false, ...ofCluster }: OfCluster = {},
): Redis {
  const address = readRedisAddress(url);
  if (address.kind === 'single') return quiet(new Redis(url, options));
  if (address.kind === 'sentinel') return quiet(new Redis({ ...options, ...sentinelOptions(address, options) }));
  const { retryStrategy, lazyConnect, enableReadyCheck, replyMapping: _mapping, ...redisOptions } = options;
  const cluster = new EndableCluster(address.nodes, {
    ...(retryStrategy ? { clusterRetryStrategy: retryStrategy as (times: number) => number | null } : {}),
    lazyConnect: lazyConnect ?? false,
    enableReadyCheck: enableReadyCheck ?? true,
    slotsRefreshInterval: LOOK_FOR_NODES_EVERY_MS,
    slotsRefreshTimeout: ASKED_FOR_MS,
    // Certificates name hosts: an address that was looked up would not fit them.
    ...(address.isEncrypted ? { dnsLookup: (host, done) => done(null, host) } : {}),
    ...ofCluster,
    redisOptions: {
      ...redisOptions,
      ...address.login,
      ...(address.isEncrypted ? { tls: {} } : {}),
      lazyConnect: !connectsNodes,
    },
  });
  return quiet(cluster as unknown as Redis);
}

const sentinelOptions = (
  address: Extract<RedisAddress, { kind: 'sentinel' }>,
  { retryStrategy }: RedisOptions,
): RedisOptions => ({
  sentinels: address.sentinels,
  name: address.name,
  db: address.db,
  ...address.login,
  ...(address.sentinelLogin.username === undefined ? {} : { sentinelUsername: address.sentinelLogin.username }),
  ...(address.sentinelLogin.password === undefined ? {} : { sentinelPassword: address.sentinelLogin.password }),
  ...(retryStrategy ? { sentinelRetryStrategy: retryStrategy as (attempt: number) => number | null } : {}),
  ...(address.isEncrypted ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  // A former master that comes back as a replica refuses writes: 2 connects again and sends them to the new one.
  reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
  // A master that is silent instead of gone is left when the Sentinels name another one.
  failoverDetector: true,
});

/**
 * Waits until a new connection may be used.
 *
 * @throws what is wrong with the server, or with which nodes of a cluster
 */
export async function untilConnected(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return;
  const nodes = new Map<string, string>();
  const note = (error: Error, node: string) => nodes.set(node, error.message);
  redis.on('node error', note);
  try {
    await new Promise((resolve, reject) => redis.once('ready', () => resolve(undefined)).once('error', reject));
  } catch (error) {
    if (nodes.size === 0) throw error;
    throw new Error([...nodes].map(([node, message]) => `${node}: ${message}`).join(', '), { cause: error });
  } finally {
    redis.off('node error', note);
  }
}

// Without a listener every lost connection would be an unhandled error; the retry strategy handles it.
function quiet(redis: Redis): Redis {
  redis.on('error', () => {});
  return redis;
}
