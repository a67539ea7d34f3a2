import { setTimeout as pause } from 'node:timers/promises';
import type { Temporal } from 'temporal-polyfill';
import { InOtherHands } from '../../platform/busy.ts';
import { isPassing } from '../../platform/db/refusal-of-database.ts';
import { Refusal } from '../../platform/refusal.ts';
import { LeaseLost } from './clock-lease.ts';

/** How many attempts a job of an advance has, in real time (test-clocks.md#what-an-advance-promises "failure"). */
const ATTEMPTS = 3;
/**
 * How often a job is tried again after an outage or a deadlock of the database, which say nothing about the job; then
 * the queue retries.
 */
const PASSING_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 100;
const LONGEST_MESSAGE = 500;

/** The current attempt, for the clock's `error`. */
export interface Attempted {
  job: string;
  resource?: { type: string; id: string } | undefined;
}

/** A job of the advance has used its attempts. */
export class JobFailed extends Error {
  readonly attempted: Attempted;
  readonly code: string;

  constructor(attempted: Attempted, code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.attempted = attempted;
    this.code = code;
  }

  /** In the form that the clock stores. */
  toError(at: Temporal.Instant) {
    return {
      at: at.toString(),
      job: this.attempted.job,
      resource_type: this.attempted.resource?.type ?? null,
      resource_id: this.attempted.resource?.id ?? null,
      code: this.code,
      message: this.message,
    };
  }
}

/**
 * Runs `work` until it succeeds, at most three times; a refusal is final at once.
 *
 * @throws JobFailed; LeaseLost, lasting outages of the database and InOtherHands as they are
 */
export async function attempt<Result>(attempted: Attempted, work: () => Promise<Result>): Promise<Result> {
  let failures = 0;
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      if (isPassing(error) || error instanceof InOtherHands) {
        if (tries >= PASSING_ATTEMPTS) throw error;
      } else {
        failures += 1;
        if (error instanceof Refusal) throw failed(attempted, String(error.body.code ?? 'refused'), error);
        if (failures >= ATTEMPTS) throw failed(attempted, 'job_failed', error);
      }
      await pause(FIRST_PAUSE_MS * 2 ** (tries - 1));
    }
  }
}

const failed = (attempted: Attempted, code: string, cause: unknown): JobFailed =>
  new JobFailed(
    attempted,
    code,
    (cause instanceof Error ? cause.message : String(cause)).slice(0, LONGEST_MESSAGE),
    cause,
  );
