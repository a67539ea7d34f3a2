interface End {
  livedMs: number;
  /** Null when the process ended by itself. */
  signal: NodeJS.Signals | null;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** One that lived this long is not in a row of failed starts. */
const SETTLED_MS = 60_000;
/**
 * One that ran this long and was killed from outside neither: it is wanted back at once, however often that happens.
 */
const RAN_MS = 2_000;

/** How many lives in a row ended as failed starts, after one more life; `before` counts those before it. */
export function failedStartsInARow(before: number, { livedMs, signal }: End): number {
  const neededMs = signal === 'SIGKILL' ? RAN_MS : SETTLED_MS;
  return livedMs > neededMs ? 0 : before + 1;
}

/** Pause before the next life: 0.5 s, and after 1, 2, 3 … failed starts 1, 2, 4 … 30 s. */
export const pauseMs = (failedStarts: number): number => Math.min(FIRST_PAUSE_MS * 2 ** failedStarts, MAX_PAUSE_MS);
