/** Work that is done again and again beside other work. */
export interface Repeated {
  /** Resolves when what is under way has ended, at once if nothing is. */
  settled(): Promise<void>;
  stop(): void;
}

/** Does work every so often, never twice at the same time; when it fails, the next time does it. */
export function repeat(everyMs: number, work: () => Promise<void>): Repeated {
  let underWay: Promise<void> | undefined;
  const timer = setInterval(() => {
    underWay ??= work()
      .catch(() => {}) // the next time does it
      .finally(() => {
        underWay = undefined;
      });
  }, everyMs);
  return { settled: async () => underWay, stop: () => clearInterval(timer) };
}
