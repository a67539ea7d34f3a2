import type { Redis } from 'ioredis';
import { TaxesWanted } from '../../areas/billing/preview-invoice/preview-taxes.ts';
import { estimateTaxes } from '../../areas/billing/tax-engines/estimate-taxes.ts';
import { assert } from '../../engine/assert.ts';
import { AmountOutOfRange } from '../../engine/money/cents.ts';
import { readOrganizationNow } from '../../platform/clock/organization-clock.ts';
import { realNowMs } from '../../platform/clock/real-clock.ts';
import type { Context } from '../../platform/context.ts';
import type { Tx } from '../../platform/db/connect.ts';
import { NoSeat } from '../../platform/db/preview-tables.ts';
import { isPassing, refusalOfDatabase } from '../../platform/db/refusal-of-database.ts';
import { withoutLocks } from '../../platform/db/without-locks.ts';
import { ofOrganization } from '../../platform/log/log.ts';
import type { Handlers } from '../../platform/queue/worker.ts';
import { Refusal, refuse } from '../../platform/refusal.ts';
import { publishReply } from '../../platform/replies/replies.ts';
import { OUT_OF_RANGE } from '../../platform/schema/fields.ts';
import type { EstimatedTaxes } from '../../platform/taxes/port.ts';
import { Turns } from '../../platform/turns/turns.ts';
import { type CommandDeps, type CommandJob, type CommandReply, replyOfRefusal, silentContext } from './run-command.ts';

type PreviewDeps = CommandDeps & { redis: Redis; turns: Turns };

/** Time limit of a preview, below the write timeout, so that its caller gets the error. */
const MOST_MS = 8000;
/** Lock wait of a preview: it locks no row, and does not queue behind a migration of a table that it reads. */
const LOCK_TIMEOUT_MS = 1000;
/** How often a preview is tried: a row may be written after its snapshot was taken, and the next snapshot has it. */
const TRIES = 3;
/** Pause while other previews of the organization have all seats: about as long as a small one takes. */
const SEAT_WAIT_MS = 50;

/**
 * Handler of previews: reads in one snapshot, which lock nothing that others wait for and store nothing. A preview
 * whose caller no longer waits is not run. Rules: everywhere.md#bounded-cost, previews.md.
 */
export function previewHandlers(deps: CommandDeps & { redis: Redis }): Pick<Handlers, 'preview.run'> {
  const turns = new Turns();
  return {
    async 'preview.run'(job, info) {
      const waitedMs = realNowMs() - job.at;
      const leftMs = Math.min(MOST_MS, deps.config.WRITE_TIMEOUT_SECONDS * 1000 - waitedMs);
      if (leftMs <= 0) {
        ofOrganization(deps.log, job.organization_id).info(
          { operation: job.operation, waitedMs },
          'a preview whose caller has stopped waiting is not run',
        );
        return;
      }
      const reply = await answerOf({ ...deps, turns }, job, realNowMs() + leftMs);
      if (reply === undefined) return info.comeBack(SEAT_WAIT_MS);
      await publishReply(deps.redis, deps.config.REDIS_PREFIX, { to: job.from, cid: job.cid, reply });
    },
  };
}

/** Undefined, when there was no seat for it. */
async function answerOf(deps: PreviewDeps, job: CommandJob, untilMs: number): Promise<CommandReply | undefined> {
  try {
    return { status: 200, body: JSON.stringify(await preview(deps, job, untilMs, { tries: TRIES })), headers: {} };
  } catch (error) {
    if (error instanceof NoSeat) return undefined;
    const refusal = refusalFor(error);
    const operation = deps.operations.get(job.operation);
    if (refusal && operation) return { ...replyOfRefusal(operation, job.input, refusal), headers: retryAfter(refusal) };
    ofOrganization(deps.log, job.organization_id).error(
      { operation: job.operation, command: job.cid, err: error },
      'preview failed',
    );
    return { status: 500, body: JSON.stringify({ status: 500, error: 'Internal Server Error' }), headers: {} };
  }
}

const retryAfter = ({ status }: Refusal): Record<string, string> => (status === 503 ? { 'Retry-After': '1' } : {});

function refusalFor(error: unknown): Refusal | undefined {
  if (error instanceof AmountOutOfRange) return refuse.invalid({ base: [OUT_OF_RANGE] });
  if (error instanceof Refusal) return error;
  return isOverdue(error) || isPassing(error) ? refuse.unavailable() : refusalOfDatabase(error);
}

/** Runs a preview; where a tax engine has to be asked, outside of the transaction, once more with its answer. */
async function preview(
  deps: PreviewDeps,
  job: CommandJob,
  untilMs: number,
  { tries, estimatedTaxes }: { tries: number; estimatedTaxes?: EstimatedTaxes },
): Promise<object | null> {
  const operation = deps.operations.get(job.operation);
  assert(operation, `operation ${job.operation} is in the table`);
  const run = deps.flows?.[operation.name] ?? operation.run;
  let answer: object | null = null;
  const done = new Error('taken back');
  try {
    await deps.sql.begin('isolation level repeatable read', async (tx) => {
      answer = await withinTime(deps, tx, untilMs, async () =>
        run({ ...(await contextOf(deps, tx, job)), ...(estimatedTaxes ? { estimatedTaxes } : {}) }, job.input),
      );
      throw done; // nothing is committed in any case
    });
    return answer;
  } catch (error) {
    if (error === done) return answer;
    if (error instanceof TaxesWanted && estimatedTaxes === undefined) {
      const organization = { id: job.organization_id, sandbox: job.sandbox };
      const estimated = await estimateTaxes({ ...deps, db: deps.sql }, organization, error);
      return preview(deps, job, untilMs, { tries, estimatedTaxes: estimated });
    }
    if (!isOutdated(error) || tries <= 1 || realNowMs() >= untilMs) throw error;
    return preview(deps, job, untilMs, { tries: tries - 1, ...(estimatedTaxes ? { estimatedTaxes } : {}) });
  }
}

/** Ends every statement at the deadline; a running one is cancelled. */
async function withinTime<Result>(
  deps: CommandDeps,
  tx: Tx,
  untilMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const leftMs = Math.max(1, untilMs - realNowMs());
  const [row] = await tx<{ pid: number }[]>`
    select pg_backend_pid() as pid, set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true),
      set_config('statement_timeout', ${String(leftMs)}, true)`;
  const timer = setTimeout(() => {
    deps.sql`select pg_cancel_backend(${row!.pid})`.catch(() => {}); // the statement's own timeout ends it a little
    // later
  }, leftMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

const contextOf = async (deps: PreviewDeps, tx: Tx, job: CommandJob): Promise<Context> => ({
  ...silentContext(
    deps,
    withoutLocks(tx),
    job,
    await readOrganizationNow({ db: tx, organizationId: job.organization_id }, job.sandbox),
  ),
  pause: deps.turns.pauseOf(job.organization_id),
});

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;
/** Cancelled by the timeout of a statement or of the whole preview. */
const isOverdue = (error: unknown): boolean => codeOf(error) === '57014';
const isOutdated = (error: unknown): boolean => codeOf(error) === '40001' || codeOf(error) === '40P01';
