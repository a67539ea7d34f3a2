const BEAT_MS = 20;
/**
 * A beat that comes so much later than it should was held up by work of this process, or the machine gave it no time.
 */
const LATE_MS = 25;

/** Knows whether this process' own event loop was held up lately. */
export interface LoopWatch {
  /** Whether the loop was held up within the last so many milliseconds, or is just coming back from it. */
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
