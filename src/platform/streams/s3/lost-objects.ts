import { whileHeld } from '../hold-lease.ts';
import type { SourceHost } from '../source.ts';
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
    const found = await store.find(name.key).catch((error: unknown) => {
      if (error instanceof ObjectRefused) return name; // whether it is there is not said
      throw error;
    });
    if (found?.etag === name.etag) continue;
    await whileHeld(host, idOf(name), async () => {
      log.info({ object: idOf(name) }, 'an object is gone before it was read to its end');
      await objects.drop(name, idOf(name));
    });
  }
}
