import { Redis } from 'ioredis';
import { connectDatabase, type Sql } from '../db/connect.ts';

/** The result of probing a store: it works, it may come back by itself, or it never will. */
export type Probe = { state: 'works' } | { state: 'away' | 'wrong'; why: string };

/** Timeout of a probe: together with the start of the process a missing store is reported within 5 s. */
const ANSWER_WITHIN_MS = 3_000;

/** Error classes of Postgres: invalid authorization, no such database. Waiting helps with neither. */
const WRONG_IN_POSTGRES = /^(28|3D)/;
/** Answers of a Redis that is starting or in a failover. */
const SOON_IN_REDIS = /^(LOADING|MASTERDOWN|TRYAGAIN|BUSY)\b/;

export async function probePostgres(url: string): Promise<Probe> {
  const sql: Sql = connectDatabase(url, { connections: 1, name: 'meterstone start' });
  try {
    await inTime(sql`select 1`);
    return { state: 'works' };
  } catch (error) {
    const { code = '' } = error as { code?: string };
    return { state: WRONG_IN_POSTGRES.test(code) ? 'wrong' : 'away', why: reasonOf(error) };
  } finally {
    void sql.end({ timeout: 0 });
  }
}

export async function probeRedis(url: string): Promise<Probe> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: ANSWER_WITHIN_MS,
  });
  let lost: unknown;
  redis.on('error', (error) => {
    lost ??= error; // the reason why the connection failed; the command only reports that it is closed
  });
  try {
    await inTime(redis.connect().then(() => redis.ping()));
    return { state: 'works' };
  } catch (error) {
    const cause = lost ?? error;
    const isRefusal = (cause as Error).name === 'ReplyError' && !SOON_IN_REDIS.test((cause as Error).message);
    return { state: isRefusal ? 'wrong' : 'away', why: reasonOf(cause) };
  } finally {
    redis.disconnect();
  }
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

async function inTime<T>(work: PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_WITHIN_MS / 1000} s`)), ANSWER_WITHIN_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The error of one of a name's addresses contains the reason. */
function reasonOf(error: unknown): string {
  const { message, errors, code } = error as { message?: string; errors?: Error[]; code?: string };
  return message || errors?.map((each) => each.message).join(', ') || code || String(error);
}
