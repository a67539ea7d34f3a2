import { setTimeout as pause } from 'node:timers/promises';
import type { SourceHost, StreamSource } from '../source.ts';
import { followQueue } from './follow-queue.ts';
import { forgetEnded, forgetLost } from './lost-objects.ts';
import { openQueue } from './queue.ts';
import { scanBucket } from './scan-bucket.ts';
import type { S3Settings } from './settings.ts';
import { type ObjectStore, openStore } from './store.ts';
import { ObjectTaker } from './take-object.ts';
import { UnreadObjects } from './unread-objects.ts';

/** The pause between two listings where nothing else tells of new objects. */
const POLL_SECONDS = 60;
/** How often files are looked for that were begun or have ended, and are no longer there. */
const FORGET_EVERY_MS = 60_000;

/**
 * The files of a bucket below a prefix, each read once, one at a time: they are listed again and again, or a queue
 * names them, or both. Any number of processes share them.
 *
 * Rules: streams.md#s3, streams.md#files.
 */
export const openS3 = (settings: S3Settings): StreamSource => ({
  async run(host) {
    try {
      await read(settings, host);
    } catch (error) {
      if (!host.signal.aborted) throw error;
    }
  },
});

async function read(settings: S3Settings, outer: SourceHost): Promise<void> {
  const { queue_url: queueUrl, poll_seconds: pollSeconds } = settings;
  // One that fails ends the other.
  const failed = new AbortController();
  const host = { ...outer, signal: AbortSignal.any([outer.signal, failed.signal]) };
  const store = await openStore(settings, host.signal);
  const unread = { listed: new UnreadObjects(), named: new UnreadObjects() };
  const shared = { bucket: settings.bucket, host, store, taker: new ObjectTaker(settings, host, store) };
  host.lag(() => ({ messages: null, seconds: Math.max(unread.listed.age(host), unread.named.age(host)) }));
  const ways: Promise<void>[] = [];
  if (queueUrl !== undefined)
    ways.push(follow({ ...settings, queue_url: queueUrl }, { ...shared, unread: unread.named }));
  if (queueUrl === undefined || pollSeconds !== undefined)
    ways.push(scan((pollSeconds ?? POLL_SECONDS) * 1000, { ...shared, unread: unread.listed }));
  ways.push(forget(shared));
  for (const way of ways) way.catch((error: unknown) => failed.abort(error));
  try {
    const outcomes = await Promise.allSettled(ways);
    if (failed.signal.aborted) throw failed.signal.reason;
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  } finally {
    store.close();
  }
}

interface Shared {
  bucket: string;
  host: SourceHost;
  store: ObjectStore;
  taker: ObjectTaker;
  unread: UnreadObjects;
}

async function scan(pauseMs: number, shared: Shared): Promise<void> {
  const { signal } = shared.host;
  while (!signal.aborted) {
    const isMore = await scanBucket(shared);
    if (!isMore) await pause(pauseMs, undefined, { signal }).catch(() => {}); // it ends
  }
}

async function forget({ bucket, host, store }: Pick<Shared, 'bucket' | 'host' | 'store'>): Promise<void> {
  const { signal } = host;
  while (!signal.aborted) {
    await forgetLost(bucket, host, store);
    const isMore = await forgetEnded(bucket, host, store);
    if (!isMore) await pause(FORGET_EVERY_MS, undefined, { signal }).catch(() => {}); // it ends
  }
}

async function follow(settings: S3Settings & { queue_url: string }, shared: Shared): Promise<void> {
  const queue = await openQueue(settings, shared.host.signal);
  try {
    await followQueue({ ...shared, queue });
  } finally {
    queue.close();
  }
}
