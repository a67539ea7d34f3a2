import type { Redis } from 'ioredis';
import { connectDatabase, type Sql } from '../db/connect.ts';
import { within } from '../db/within.ts';
import { readRedisAddress } from '../redis/address.ts';
import { openRedis } from '../redis/connect.ts';
import { faultsOf } from '../redis/nodes.ts';

/** The result of probing a store: it works, it may come back by itself, or it never will. */
export type Probe = { state: 'works' } | { state: 'away' | 'wrong'; why: string };

/** Timeout of a probe: together with the start of the process a missing store is reported within 5 s. */
const ANSWER_WITHIN_MS = 3_000;

/** Error classes of Postgres: invalid authorization, no such database. Waiting helps with neither. */
const WRONG_IN_POSTGRES = /^(28|3D)/;
/** A pooler takes few start-up parameters: not those that sessions send without it. */
const POOLER = /unsupported startup parameter/;
/** Answers of a Redis that is starting or in a failover. */
const SOON_IN_REDIS = /^(LOADING|MASTERDOWN|TRYAGAIN|BUSY)\b/;

/** What an operator has to set where a pooler stands between. */
export const SET_BEHIND_POOLER = 'a pooler is between, so set DATABASE_PREPARE=false';

export async function probePostgres(url: string): Promise<Probe> {
  const sql: Sql = connectDatabase(url, { connections: 1, name: 'meterstone start' });
  try {
    await inTime(sql`select 1`);
    return { state: 'works' };
  } catch (error) {
    const { code = '', message = '' } = error as { code?: string; message?: string };
    if (POOLER.test(message)) return { state: 'wrong', why: `${message}: ${SET_BEHIND_POOLER}` };
    return { state: WRONG_IN_POSTGRES.test(code) ? 'wrong' : 'away', why: reasonOf(error) };
  } finally {
    void sql.end({ timeout: 0 });
  }
}

/** Answers of a server that was not made for what the address says. */
const WRONG_KIND = /cluster support disabled/;

/**
 * Whether Redis works: of a cluster every master, and every slot. What is wrong names the node.
 *
 * @param url an address that the settings accept
 */
export async function probeRedis(url: string): Promise<Probe> {
  const redis = openRedis(
    url,
    { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0, connectTimeout: ANSWER_WITHIN_MS },
    { enableReadyCheck: false, retryDelayOnFailover: 0, connectsNodes: true },
  );
  let lost: unknown;
  redis.on('error', (error) => {
    lost ??= error; // the reason why the connection failed; the command only reports that it is closed
  });
  const ofNodes = new Map<string, string>();
  redis.on('node error', (error: Error, node: string) => {
    // That a node is away is said twice, once without the reason.
    const reason = reasonOf(error);
    if (reason !== CLOSED || !ofNodes.has(node)) ofNodes.set(node, reason);
  });
  const nodes = () => [...ofNodes].map(([node, reason]) => `${node}: ${reason}`).join(', ');
  try {
    const faults = await inTime(redis.connect().then(() => faultsOf(redis)));
    if (faults.length > 0) return { state: 'away', why: [nodes(), ...faults].filter((text) => text !== '').join(', ') };
    return (await isNodeOfCluster(redis, url)) ? { state: 'wrong', why: 'it is a node of a cluster' } : WORKS;
  } catch (error) {
    if (ofNodes.size > 0) {
      const isWrong = [...ofNodes.values()].some((reason) => WRONG_KIND.test(reason) || REFUSED_LOGIN.test(reason));
      return { state: isWrong ? 'wrong' : 'away', why: nodes() };
    }
    const cause = lost ?? error;
    const isRefusal = (cause as Error).name === 'ReplyError' && !SOON_IN_REDIS.test((cause as Error).message);
    return { state: isRefusal ? 'wrong' : 'away', why: reasonOf(cause) };
  } finally {
    redis.disconnect();
  }
}

const CLOSED = 'Connection is closed.';
const WORKS: Probe = { state: 'works' };
const REFUSED_LOGIN = /^(WRONGPASS|NOAUTH|ERR AUTH)/;

/** A node asked as a single server refuses most calls, and the queues would stand still without a word. */
async function isNodeOfCluster(redis: Redis, url: string): Promise<boolean> {
  if (readRedisAddress(url).kind !== 'single') return false;
  // Who may not ask is not refused for it.
  return /^cluster_enabled:1/m.test(await redis.info('cluster').catch(() => ''));
}

/** Host, port and database of an address, without the login. */
export function placeOf(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname === '/' ? '' : pathname}`;
  } catch {
    return url.replace(/^[^:]*:\/\/(.*@)?/, '').split('?')[0]!; // several hosts in one address
  }
}

const inTime = <T>(work: PromiseLike<T>): Promise<T> => within(work, ANSWER_WITHIN_MS);

/** The error of one of a name's addresses contains the reason. */
function reasonOf(error: unknown): string {
  const { message, errors, code } = error as { message?: string; errors?: Error[]; code?: string };
  return message || errors?.map((each) => each.message).join(', ') || code || String(error);
}
