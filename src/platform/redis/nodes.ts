import type { Cluster } from 'ioredis';
import type { Redis } from './connect.ts';

/** Whether the client is one of a cluster; what it sends without a key then goes to any node. */
export const isCluster = (redis: Redis): boolean => redis.isCluster;

/** The servers that hold keys: the masters of a cluster, else the one server. */
export const mastersOf = (redis: Redis): Redis[] =>
  isCluster(redis) ? (redis as unknown as Cluster).nodes('master') : [redis];

/** `host:port` of the server behind a client. */
export const nodeName = ({ options: { host, port } }: Redis): string => `${host}:${port}`;

/**
 * Calls back for every connection to a node that was lost or came back: what was published meanwhile may have been
 * missed.
 */
export function onEveryConnection(redis: Redis, listener: () => void): void {
  redis.on('ready', listener);
  if (!isCluster(redis)) return;
  redis.on('+node', listener);
  redis.on('-node', listener);
}

/**
 * What is wrong with Redis, as a sentence each; empty while every server answers and a cluster serves all its slots.
 *
 * @throws what a single server answers, when it does not answer at all
 */
export async function faultsOf(redis: Redis): Promise<string[]> {
  if (!isCluster(redis)) {
    await redis.ping();
    return [];
  }
  const masters = mastersOf(redis);
  const [info, ...pings] = await Promise.all([
    redis.cluster('INFO').catch((error: Error) => `cluster_state:${error.message}`),
    ...masters.map((node) =>
      node.ping().then(
        () => undefined,
        (error: Error) => `${nodeName(node)} does not answer: ${error.message}`,
      ),
    ),
  ]);
  const state = /cluster_state:([^\r\n]*)/.exec(String(info))?.[1] ?? 'unknown';
  const assigned = Number(/cluster_slots_assigned:(\d+)/.exec(String(info))?.[1] ?? 0);
  return [
    ...pings.filter((fault) => fault !== undefined),
    ...(state === 'ok' ? [] : [`the cluster does not serve all keys (state ${state}, ${assigned} of 16384 slots)`]),
  ];
}
