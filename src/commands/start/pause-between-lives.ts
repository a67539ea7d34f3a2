interface End {
  livedMs: number;
  /** Null if the process ended by itself. */
  signal: NodeJS.Signals | null;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** A process that ran this long does not count as a failed start. */
const SETTLED_MS = 60_000;
/**
 * A process that ran this long and was killed from outside does not count either; it restarts at once, however often
 * that happens.
 */
const RAN_MS = 2_000;

/** Number of failed starts in a row after one more run; `before` counts those before it. */
export function failedStartsInARow(before: number, { livedMs, signal }: End): number {
  const neededMs = signal === 'SIGKILL' ? RAN_MS : SETTLED_MS;
  return livedMs > neededMs ? 0 : before + 1;
}

/** Pause before the next start: 0.5 s, and after 1, 2, 3 … failed starts 1, 2, 4 … 30 s. */
export const pauseMs = (failedStarts: number): number => Math.min(FIRST_PAUSE_MS * 2 ** failedStarts, MAX_PAUSE_MS);
