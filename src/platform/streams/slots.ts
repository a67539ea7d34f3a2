/** Runs work of which so many may run at the same time, in the order in which it came. */
export function createSlots(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift(); // takes over the slot
      if (next) next();
      else running -= 1;
    }
  };
}
