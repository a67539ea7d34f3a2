import type { SourceHost } from '../source.ts';
import type { FoundObject, ObjectStore } from './store.ts';
import type { ObjectTaker } from './take-object.ts';
import type { UnreadObjects } from './unread-objects.ts';

/** How many objects are remembered of a listing: the oldest; the others are found by the next one. */
const MOST_LISTED = 10_000;

interface Scan {
  bucket: string;
  host: SourceHost;
  store: ObjectStore;
  taker: ObjectTaker;
  unread: UnreadObjects;
}

/**
 * Looks once at every object, then reads those that are not read yet, the oldest first.
 *
 * @returns whether there were more of them than are remembered, so that the next listing is due
 */
export async function scanBucket({ bucket, host, store, taker, unread }: Scan): Promise<boolean> {
  let isMore = false;
  let found: FoundObject[] = [];
  const waiting: FoundObject[] = [];
  const keepOldest = () => {
    found.sort(olderFirst);
    isMore ||= found.length > MOST_LISTED;
    found = found.slice(0, MOST_LISTED);
  };
  for await (const page of store.pages()) {
    host.isReading();
    const wanted = page.filter((object) => taker.isWanted(object));
    if (wanted.length === 0) continue;
    const states = await host.objects.states(
      bucket,
      wanted.map(({ key }) => key),
    );
    const known = new Map(states.map((state) => [`${state.key}#${state.etag}`, state]));
    for (const object of wanted) {
      const state = known.get(`${object.key}#${object.etag}`);
      if (state?.is_waiting) waiting.push(object);
      else if (!state || !taker.isSettled(state)) found.push(object);
    }
    waiting.sort(olderFirst).splice(MOST_LISTED);
    if (found.length > 2 * MOST_LISTED) keepOldest();
  }
  keepOldest();
  unread.listed([...found, ...waiting]);
  for (const object of found) {
    if (host.signal.aborted) return false;
    const { is } = await taker.take(object);
    if (is !== 'waiting') unread.remove(object);
  }
  return isMore;
}

const olderFirst = (one: FoundObject, other: FoundObject): number =>
  one.sourceTime < other.sourceTime ? -1 : one.sourceTime > other.sourceTime ? 1 : one.id < other.id ? -1 : 1;
