const BEAT_MS = 20;
/** Delay of a beat from which on the event loop counts as blocked, by work of this process or by a busy machine. */
const LATE_MS = 25;

/** Knows whether this process's event loop was blocked lately. */
export interface LoopWatch {
  /** Whether the loop was blocked within the given milliseconds, or is just recovering. */
  wasBusy(withinMs: number): boolean;
  close(): void;
}

export function watchLoop(): LoopWatch {
  let lastBeatMs = performance.now();
  let lastBusyMs = Number.NEGATIVE_INFINITY;
  const look = () => {
    const now = performance.now();
    if (now - lastBeatMs > BEAT_MS + LATE_MS) lastBusyMs = now;
    return now;
  };
  const timer = setInterval(() => {
    lastBeatMs = look();
  }, BEAT_MS);
  timer.unref();
  return {
    wasBusy: (withinMs) => look() - lastBusyMs <= withinMs,
    close: () => clearInterval(timer),
  };
}
