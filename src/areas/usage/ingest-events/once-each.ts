/**
 * How many finished jobs are remembered: far more than run at the same time, so that a late copy finds the end of the
 * first.
 */
const MOST_REMEMBERED = 1000;

/**
 * Runs the work of each key once in this process: a copy waits while the first runs, and a later one has nothing to do.
 * Failed work is forgotten and may run again.
 */
export type OnceEach = (key: string, work: () => Promise<void>) => Promise<void>;

/**
 * A process whose event loop is blocked for longer than the lease of its jobs, as on a busy machine, gets them a second
 * time while they run. Storing its events again would wait for the rows that the first run holds, take the places of
 * other jobs, and block again.
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
