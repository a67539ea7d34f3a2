import type { Redis } from 'ioredis';
import { Temporal } from 'temporal-polyfill';
import { assert } from '../../engine/assert.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import { refusalOfDatabase } from '../../platform/db/refusal-of-database.ts';
import { TooManyCalls } from '../../platform/payments/port.ts';
import { openProviderCalls, type ProviderCalls } from '../../platform/payments/provider-calls.ts';
import { ASKING_MOST_MS, type Asked, answeredInTime, type PreStep } from '../../platform/pre-step.ts';
import { openLanes } from '../../platform/queue/lanes.ts';
import type { Handlers } from '../../platform/queue/worker.ts';
import { type Refusal, refuse } from '../../platform/refusal.ts';
import { readKey } from './idempotency.ts';
import { answerJob } from './jobs.ts';
import {
  type CommandDeps,
  type CommandJob,
  type CommandReply,
  keyOfCommand,
  openedInput,
  refusalOf,
  rehearse,
  runCommand,
  runRefused,
} from './run-command.ts';

/** A pre-step that makes nothing of an outage is stopped a little later than its calls would be. */
const PRE_STEP_MOST_MS = ASKING_MOST_MS + 500;
/** How many commands of one organization ask at the same time, in all processes together, as deliveries do. */
const ASKING_OF_ORGANIZATION = 8;
/** Longer than two transactions, each of which waits 5 s for a lock at most, with a question between them. */
const LEASE_MS = 30_000;
/** Pause while eight others ask, or a twin with the same key: a quick provider answers in about this time. */
const LANE_WAIT_MS = 100;

export interface AskingDeps extends CommandDeps {
  preSteps: Readonly<Record<string, PreStep>>;
  /** Paces what a command asks, as it does with the jobs of the same connection. */
  calls?: ProviderCalls;
}

/**
 * Handler of commands that ask a provider first. An organization has eight of them under way at most, so a slow
 * provider holds up nobody else. Rule: everywhere.md#asking-first.
 */
export function askingHandlers(deps: AskingDeps & { redis: Redis }): Pick<Handlers, 'asking.command'> {
  const { REDIS_PREFIX: prefix } = deps.config;
  const lanes = openLanes(deps.redis, { prefix, name: 'asking', most: ASKING_OF_ORGANIZATION, leaseMs: LEASE_MS });
  const callsOf = openProviderCalls(deps.redis, {
    prefix,
    perSecond: deps.config.PROVIDER_CALLS_PER_SECOND,
    isWaited: true,
  });
  const keys = openLanes(deps.redis, { prefix, name: 'asking-key', most: 1, leaseMs: LEASE_MS });
  return {
    async 'asking.command'(job, info) {
      const lane = await lanes.take(job.organization_id, info.id);
      // Twins ask one after the other, so that the second one finds the answer of the first.
      const key = lane && (await keys.take(keyOfCommand(job).scopeHash.toString('hex'), info.id));
      try {
        if (!key) return await info.comeBack(LANE_WAIT_MS);
        await answerJob(deps, job, info, (queued) => askAndRun({ ...deps, calls: callsOf(info.id) }, queued));
      } finally {
        key?.release();
        lane?.release();
      }
    },
  };
}

/**
 * One command with its question: a repeated one is answered from what is stored and asks nobody; one that would be
 * refused in any case asks nobody either; then the provider is asked outside any transaction, and the command runs and
 * validates again.
 */
async function askAndRun(deps: AskingDeps, queued: CommandJob): Promise<CommandReply> {
  const job = await openedInput(deps, queued);
  if (await isAnswered(deps, job)) return runCommand(deps, job);
  const preStep = deps.preSteps[job.operation];
  assert(preStep, `operation ${job.operation} has a pre-step`);
  const recordId = job.record_id ?? job.cid;
  try {
    await rehearse({ ...deps, asked: { recordId, isRehearsal: true } }, job);
    const answer = await answeredInTime(
      preStep(deps, {
        organizationId: job.organization_id,
        sandbox: job.sandbox,
        commandId: job.cid,
        recordId,
        input: job.input,
      }),
      PRE_STEP_MOST_MS,
    );
    const asked: Asked = { recordId, ...(answer ? { answer } : {}) };
    return await runCommand({ ...deps, asked }, job);
  } catch (error) {
    const refusal = refusalOf(error) ?? refusalOfDatabase(error) ?? refusalOfTurn(error);
    if (!refusal) throw error;
    return runRefused(deps, job, refusal);
  }
}

/** Its turn to call the provider would come too late for who waits. */
const refusalOfTurn = (error: unknown): Refusal | undefined =>
  error instanceof TooManyCalls
    ? refuse.tooManyProviderRequests(error.provider, error.message, error.retryAfterMs)
    : undefined;

async function isAnswered({ sql }: AskingDeps, job: CommandJob): Promise<boolean> {
  const stored = await readKey({ db: sql, organizationId: job.organization_id }, keyOfCommand(job).scopeHash);
  if (stored === undefined || stored.http_status === null) return false;
  return Temporal.Instant.compare(stored.expires_at, realNow()) > 0;
}
