import { writeApiLogs } from '../../platform/api-log/write-api-logs.ts';
import { lockOrganizationNow } from '../../platform/clock/organization-clock.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { Context } from '../../platform/context.ts';
import type { Tx } from '../../platform/db/connect.ts';
import { isLockTimeout } from '../../platform/db/refusal-of-database.ts';
import type { Gathering } from '../../platform/operation.ts';
import { nudge } from '../../platform/records/nudge.ts';
import { emptyRecords, type Nudges, writeRecords } from '../../platform/records/write-records.ts';
import { Refusal } from '../../platform/refusal.ts';
import { claimKeys, finishKeys, freeKeys } from './idempotency.ts';
import {
  actorOf,
  apiLogRow,
  type CommandDeps,
  type CommandJob,
  type CommandReply,
  isStored,
  keyOfCommand,
  replyOfRefusal,
  silentContext,
  storedForm,
  TwinRunning,
} from './run-command.ts';

/** The outcome of gathered commands: answers of those that ran, and commands that must run alone. */
export interface GatheredOutcome {
  answered: { job: CommandJob; reply: CommandReply }[];
  /** Commands whose keys were used before, or twice here; their answers are found as for any repeated command. */
  repeated: CommandJob[];
}

/**
 * Runs commands that wait for one record in one transaction, with one statement each for all keys, decisions, API log
 * rows and answers. A refused command changes nothing and is answered like the others.
 *
 * @throws TwinRunning when another transaction holds one of the keys
 * @throws whatever else stops the transaction; nothing of any of them is stored then
 * Rule: everywhere.md#idempotency-key, everywhere.md#writes-are-jobs, everywhere.md#postgres-is-the-truth,
 * idempotency.md.
 */
export async function runGathered(
  deps: CommandDeps,
  gathering: Gathering,
  jobs: readonly CommandJob[],
): Promise<GatheredOutcome> {
  const keyed = jobs.map((job) => ({ job, ...keyOfCommand(job) }));
  const first = new Map(keyed.toReversed().map((each) => [each.scopeHash.toString('hex'), each]));
  const { organization_id: organizationId } = jobs[0]!;
  const outcome = await deps.sql.begin(async (tx) => {
    const claimed = await claimKeys(
      { db: tx, organizationId },
      [...first.values()].map((each) => ({ ...each, request_id: each.job.request_id })),
      { now: realNow(), ttlHours: deps.config.IDEMPOTENCY_TTL_HOURS },
    ).catch((error) => {
      throw isLockTimeout(error) ? new TwinRunning() : error;
    });
    const ours = keyed.filter((each) => claimed.has(each.scopeHash.toString('hex')) && isFirst(first, each));
    if (ours.length === 0) return { answered: [], nudges: undefined };
    const replies = await decide(
      deps,
      tx,
      gathering,
      ours.map(({ job }) => job),
    );
    const answered = ours.map((each, place) => ({ ...each, reply: replies[place]! }));
    return { answered, nudges: await writeAnswers(deps, tx, answered) };
  });
  if (outcome.nudges) await nudge(deps.producer, organizationId, outcome.nudges);
  const done = new Set(outcome.answered.map(({ job }) => job));
  return { answered: outcome.answered, repeated: jobs.filter((job) => !done.has(job)) };
}

type Keyed = { job: CommandJob; scopeHash: Buffer };

const isFirst = (first: ReadonlyMap<string, Keyed>, { job, scopeHash }: Keyed): boolean =>
  first.get(scopeHash.toString('hex'))!.job === job;

/** One reply for each command; a refusal of the organization or the record applies to all. */
async function decide(
  deps: CommandDeps,
  tx: Tx,
  gathering: Gathering,
  jobs: readonly CommandJob[],
): Promise<CommandReply[]> {
  try {
    const verdicts = await gathering.run!(
      await contextOf(deps, tx, jobs[0]!),
      jobs.map(({ operation, input }) => ({ operation, input })),
    );
    return verdicts.map((verdict, index) => replyOf(deps, jobs[index]!, verdict));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await tx.unsafe('rollback to savepoint command');
    return jobs.map((job) => replyOf(deps, job, error));
  }
}

const contextOf = async (deps: CommandDeps, tx: Tx, job: CommandJob): Promise<Context> =>
  silentContext(deps, tx, job, await lockOrganizationNow({ db: tx, organizationId: job.organization_id }, job.sandbox));

const replyOf = (deps: CommandDeps, { operation, input }: CommandJob, verdict: object | Refusal): CommandReply =>
  verdict instanceof Refusal
    ? replyOfRefusal(deps.operations.get(operation)!, input, verdict)
    : { status: 200, body: JSON.stringify(verdict), headers: {} };

async function writeAnswers(
  deps: CommandDeps,
  tx: Tx,
  answered: readonly (Keyed & { reply: CommandReply })[],
): Promise<Nudges> {
  const { job } = answered[0]!;
  const finished = realNow();
  const stored = await Promise.all(
    answered
      .filter(({ reply }) => isStored(reply))
      .map(async ({ job: { operation: name, input }, scopeHash, reply }) => {
        const operation = deps.operations.get(name)!;
        return { scopeHash, reply: await storedForm(deps, tx, { operation, input, scopeHash }, reply) };
      }),
  );
  const freed = answered.filter(({ reply }) => !isStored(reply)).map(({ scopeHash }) => scopeHash);
  const meta = { organizationId: job.organization_id, sandbox: job.sandbox, actor: actorOf(job), now: finished };
  const [nudges] = await Promise.all([
    // Changes relevant to access checks are announced with the records, even without any.
    writeRecords(tx, { ...meta, realNow: finished }, emptyRecords()),
    stored.length > 0 ? finishKeys({ db: tx, organizationId: job.organization_id }, stored) : undefined,
    freed.length > 0 ? freeKeys({ db: tx, organizationId: job.organization_id }, freed) : undefined,
    writeApiLogs(
      tx,
      answered.map((each) => apiLogRow(deps, each.job, each.reply, finished)),
      finished,
    ),
  ]);
  return nudges;
}
