/** The longest wait that a receiver may ask for with Retry-After (webhooks.md#delivery). */
const RETRY_AFTER_MAX_MS = 3_600_000;
const JITTER = 0.2;

export interface NextAttempt {
  /** Null: the whole schedule. */
  attemptsLeft: number | null;
  /** Null when no attempt is left. */
  delayMs: number | null;
}

/**
 * The next attempt after a failed one: the delay of the schedule, moved by up to 20 % either way, or the receiver's
 * Retry-After when that is longer; nothing after the last attempt.
 *
 * schedule      seconds between attempts; one more attempt than delays
 * attemptsLeft  attempts that were left before this one; null is the whole schedule
 * random        [0, 1)
 *
 * Rule: webhooks.md#attempts, webhooks.md#delivery.
 */
export function nextAttempt({
  schedule,
  attemptsLeft,
  retryAfterMs,
  random,
}: {
  schedule: readonly number[];
  attemptsLeft: number | null;
  retryAfterMs: number | undefined;
  random: number;
}): NextAttempt {
  const left = Math.min(attemptsLeft ?? schedule.length + 1, schedule.length + 1) - 1;
  const seconds = schedule[schedule.length - left];
  if (left <= 0 || seconds === undefined) return { attemptsLeft: 0, delayMs: null };
  const planned = Math.trunc(seconds * 1000 * (1 - JITTER + 2 * JITTER * random) + 0.5);
  return { attemptsLeft: left, delayMs: Math.max(planned, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS)) };
}
