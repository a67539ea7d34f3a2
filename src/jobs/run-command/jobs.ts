import type { Redis } from 'ioredis';
import { realNowMs } from '../../platform/clock/real-clock.ts';
import { isLockTimeout, isPassing } from '../../platform/db/refusal-of-database.ts';
import { ofOrganization } from '../../platform/log/log.ts';
import { Later } from '../../platform/payments/provider-calls.ts';
import type { Handlers, JobInfo } from '../../platform/queue/worker.ts';
import { Outage, refuse } from '../../platform/refusal.ts';
import { publishReply } from '../../platform/replies/replies.ts';
import { replyPlace } from '../../platform/secrets/secret-places.ts';
import { sealText, UnknownSecretsKey } from '../../platform/secrets/secrets.ts';
import type { CommandJobName } from '../../queues.ts';
import { type CommandDeps, type CommandJob, type CommandReply, runCommand, TwinRunning } from './run-command.ts';

// A queue restored from an old file must never run a command whose idempotency row has expired (idempotency.md).
export const OLDEST_COMMAND_MS = 3_600_000;
const TWIN_DELAY_MS = 100;

/** Handler of the commands of one pool: runs the command and sends its answer to the request that waits for it. */
export function commandHandlers(
  deps: CommandDeps & { redis: Redis },
  name: CommandJobName = 'command.run',
): Partial<Pick<Handlers, CommandJobName>> {
  return {
    [name]: (job: CommandJob, info: JobInfo) => answerJob(deps, job, info, (queued) => runCommand(deps, queued)),
  };
}

/** Runs a command by `run` and sends its answer to the request that waits for it. */
export async function answerJob(
  deps: CommandDeps & { redis: Redis },
  job: CommandJob,
  info: JobInfo,
  run: (job: CommandJob) => Promise<CommandReply>,
): Promise<void> {
  if (realNowMs() - job.at > OLDEST_COMMAND_MS) {
    ofOrganization(deps.log, job.organization_id).warn(
      { operation: job.operation, command: job.cid },
      'old command dropped',
    );
    return;
  }
  if (nobodyWaitsFor(deps, job)) return;
  const reply = await attempt(deps, job, info, run);
  const [travelling, position] = await Promise.all([
    travelForm(deps, job, reply),
    deps.positions?.keep([job.organization_id]),
  ]);
  await publishReply(deps.redis, deps.config.REDIS_PREFIX, {
    to: job.from,
    cid: job.cid,
    reply: travelling,
    position,
  });
}

/**
 * Whether a command only computes an answer and its caller has already got another one (everywhere.md#bounded-cost).
 */
const nobodyWaitsFor = (deps: CommandDeps, job: CommandJob): boolean =>
  deps.operations.get(job.operation)?.onlyAnswers === true && isLate(deps, job);

/** Whether the caller was answered that the command is pending. */
const isLate = ({ config }: CommandDeps, job: CommandJob): boolean =>
  realNowMs() - job.at >= config.WRITE_TIMEOUT_SECONDS * 1000;

/** An answer that reveals a secret passes Redis sealed. */
async function travelForm({ sql, config, operations }: CommandDeps, job: CommandJob, reply: CommandReply) {
  if (!operations.get(job.operation)?.revealsSecret || reply.status >= 400) return reply;
  return { ...reply, body: await sealText({ db: sql, config }, reply.body, replyPlace(job.cid)) };
}

/** Passing errors: another attempt may succeed, and the answer asks the caller to retry. */
const isTrouble = (error: unknown): boolean =>
  isPassing(error) || error instanceof Outage || error instanceof UnknownSecretsKey;

export async function attempt(
  deps: CommandDeps,
  job: CommandJob,
  info: JobInfo,
  run = (queued: CommandJob) => runCommand(deps, queued),
): Promise<CommandReply> {
  try {
    return await run(job);
  } catch (error) {
    if (error instanceof Later) return info.comeBack(error.delayMs);
    const twin = error instanceof TwinRunning || isLockTimeout(error);
    if (twin && !isLate(deps, job)) return info.comeBack(TWIN_DELAY_MS);
    if (isTrouble(error) && !info.lastAttempt) throw error;
    return failed(deps, job, error);
  }
}

/** The answer of a command that could not be run. */
export function failed(deps: CommandDeps, job: CommandJob, error: unknown): CommandReply {
  ofOrganization(deps.log, job.organization_id).error(
    { operation: job.operation, command: job.cid, err: error },
    'command failed',
  );
  const refusal = isTrouble(error) ? refuse.unavailable() : undefined;
  const body = refusal?.body ?? { status: 500, error: 'Internal Server Error' };
  return {
    status: refusal?.status ?? 500,
    body: JSON.stringify(body),
    headers: refusal ? { 'Retry-After': '1' } : {},
  };
}
