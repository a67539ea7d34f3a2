import { whileHeld } from '../hold-lease.ts';
import type { ObjectName, SourceHost } from '../source.ts';
import { idOf, ObjectRefused, type ObjectStore } from './store.ts';

/** How many files are asked for at once; the others come when these have ended. */
const MOST = 1000;

/**
 * Forgets files that were removed or rewritten after their reading had begun, and that nothing names any more: the
 * process that read them has died, or they waited for their next attempt. What of them is stored stays, and counts.
 *
 * Rule: streams.md#files.
 */
export async function forgetLost(bucket: string, host: SourceHost, store: ObjectStore): Promise<void> {
  const { objects, log, signal } = host;
  for (const name of await objects.left(bucket, MOST)) {
    if (signal.aborted) return;
    if (await isThere(store, name)) continue;
    await whileHeld(host, idOf(name), async () => {
      log.info({ object: idOf(name) }, 'an object is gone before it was read to its end');
      await objects.drop(name, idOf(name));
    });
  }
}

/**
 * Forgets what became of files that have ended and are no longer there. What is still there has to be known, or it
 * would be read again.
 *
 * @returns whether there may be more of them
 * Rule: streams.md#files.
 */
export async function forgetEnded(bucket: string, host: SourceHost, store: ObjectStore): Promise<boolean> {
  const { objects, signal } = host;
  const names = await objects.ended(bucket, MOST);
  for (const name of names) {
    if (signal.aborted) return false;
    if (!(await isThere(store, name))) await objects.forget(name);
  }
  return names.length === MOST;
}

/** Whether a file is there as it was; also where the server does not say. */
async function isThere(store: ObjectStore, { key, etag }: ObjectName): Promise<boolean> {
  try {
    return (await store.find(key))?.etag === etag;
  } catch (error) {
    if (error instanceof ObjectRefused) return true;
    throw error;
  }
}
