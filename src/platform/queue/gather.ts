/** Gathers items that share a job, by the key of their job. */
export interface Gatherer<Key, Item> {
  add(key: Key, items: readonly Item[]): void;
  /** Sends what waits. */
  flush(): Promise<void>;
}

/**
 * At low load items leave in the next turn of the loop, so that an answer leaves before them; after that, those of each
 * `everyMs` leave together, or as soon as there are `most` for one job.
 *
 * send  called with the items of one key, in the order in which they were added; its errors are swallowed, since a
 *       sweeper makes up for a job that was lost
 */
export function createGatherer<Key, Item>(
  send: (key: Key, items: Item[]) => Promise<void>,
  { everyMs, most }: { everyMs: number; most: number },
): Gatherer<Key, Item> {
  const waiting = new Map<Key, Item[]>();
  let timer: NodeJS.Timeout | undefined;

  async function leave(key: Key): Promise<void> {
    const items = waiting.get(key);
    if (!items) return;
    waiting.delete(key);
    await send(key, items).catch(() => {});
  }

  const leaveAll = () => Promise.all([...waiting.keys()].map(leave));

  function open(): void {
    timer = setTimeout(() => {
      timer = undefined;
      if (waiting.size > 0) open();
      void leaveAll();
    }, everyMs);
  }

  return {
    add(key, added) {
      if (added.length === 0) return;
      const items = waiting.get(key) ?? [];
      waiting.set(key, items);
      items.push(...added);
      if (items.length >= most) void leave(key);
      if (timer !== undefined) return;
      open();
      setImmediate(() => void leaveAll());
    },
    async flush() {
      clearTimeout(timer);
      timer = undefined;
      await leaveAll();
    },
  };
}
