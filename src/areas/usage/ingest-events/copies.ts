/** Jobs whose end is remembered: far more than run at once, so that a copy which comes after the end finds it. */
const MOST_REMEMBERED = 1000;

/**
 * Runs the work of each key once in this process: a copy that comes meanwhile waits for the end of the first, one that
 * comes later has nothing to do. What failed is forgotten and may be run again.
 */
export type OnceEach = (key: string, work: () => Promise<void>) => Promise<void>;

/**
 * A process whose event loop stands still for longer than the lock of its jobs, which a busy machine is enough for,
 * gets them a second time while they run. Storing again would wait for the rows of the first, take the places of other
 * jobs, and stand still again.
 */
export function createOnceEach(): OnceEach {
  const works = new Map<string, Promise<void>>();
  return async (key, work) => {
    const known = works.get(key);
    if (known) return known;
    const running = work();
    works.set(key, running);
    try {
      await running;
    } catch (error) {
      works.delete(key);
      throw error;
    }
    for (const oldest of works.keys()) {
      if (works.size <= MOST_REMEMBERED) break;
      works.delete(oldest);
    }
  };
}
