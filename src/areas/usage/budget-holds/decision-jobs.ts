import type { Redis } from 'ioredis';
import { Temporal } from 'temporal-polyfill';
import { realNow, realNowExactMs, realNowMs } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Db, Sql } from '../../../platform/db/connect.ts';
import { ofOrganization } from '../../../platform/log/log.ts';
import type { Positions } from '../../../platform/positions/positions.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import { stepJob } from '../../../platform/records/nudge.ts';
import { Refusal, refuse } from '../../../platform/refusal.ts';
import { publishReply } from '../../../platform/replies/replies.ts';
import type { JobPayload } from '../../../queues.ts';
import { isOutdated } from '../budget-windows/decide-call.ts';
import type { Verdict } from '../events/incoming-event.ts';
import { isDataError } from '../events/storage/data-errors.ts';
import { holdClocks } from '../events/storage/insert-events.ts';
import { isoOfMs } from '../events/timestamps.ts';
import { followStored, type StoreDeps } from '../ingest-events/store-events.ts';
import type { AskedDecision } from './asked-decision.ts';
import { type AllDecided, type DecisionAnswer, decideAll } from './decide-all.ts';
import type { Sender } from './settling-events.ts';

/** How often decisions are prepared: each time somebody else has changed what they were prepared with. */
const TRIES = 10;
/** Reply to a job that failed for good: its callers are answered 503. */
export const DECIDING_FAILED = 'failed';

/** The answer to one decision as it travels to the ingress. */
export type DecisionReply =
  | { status: 200; body: string; isReplayed: boolean }
  | { status: 200; verdicts: Verdict[][] }
  | { status: number; refusal: Record<string, unknown> };

export interface DecideDeps extends StoreDeps {
  redis: Redis;
  config: Config;
  sql: Sql;
  positions?: Pick<Positions, 'keep'> | undefined;
}

/**
 * Handler of `decisions.decide`: decides the questions of a job in their order and replies to the waiting ingress
 * process. A job whose callers no longer wait settles and holds nothing. Rule: budgets.md#decisions.
 */
export const decisionHandlers = (deps: DecideDeps): Pick<Handlers, 'decisions.decide'> => ({
  async 'decisions.decide'(job, info) {
    const waitedMs = realNowMs() - job.at;
    if (waitedMs >= deps.config.WRITE_TIMEOUT_SECONDS * 1000) {
      ofOrganization(deps.log, job.organization_id).info({ waitedMs }, 'decisions whose callers are gone are not made');
      return;
    }
    const reply = (answer: unknown, position?: string) =>
      publishReply(deps.redis, deps.config.REDIS_PREFIX, { to: job.from, cid: job.cid, reply: answer, position });
    try {
      const replies = await decideJob(deps, job);
      await reply(replies, await deps.positions?.keep([job.organization_id]));
    } catch (error) {
      if (info.lastAttempt) await reply(DECIDING_FAILED);
      throw error;
    }
  },
});

async function decideJob(deps: DecideDeps, job: JobPayload<'decisions.decide'>): Promise<DecisionReply[]> {
  const sender: Sender = {
    organizationId: job.organization_id,
    sandbox: job.sandbox,
    receivedAt: isoOfMs(realNowExactMs()),
  };
  const replies: DecisionReply[] = [];
  for (const part of inOrder(job.decisions as AskedDecision[]))
    replies.push(...(await decidePart(deps, sender, part)).map(replyOf));
  return replies;
}

/**
 * Decisions in parts: what settles a hold that one of the same part asks for comes in the next part, and usage that is
 * stored as a whole or not at all has one of its own.
 */
function inOrder(decisions: readonly AskedDecision[]): AskedDecision[][] {
  const parts: AskedDecision[][] = [];
  let asked = new Set<string>();
  let isClosed = true;
  for (const decision of decisions) {
    const settlesAsked = (decision.settle ?? []).some(({ hold_key }) => hold_key !== undefined && asked.has(hold_key));
    const isAlone = decision.door?.isAtomic === true;
    if (isClosed || isAlone || settlesAsked) {
      parts.push([]);
      asked = new Set();
    }
    isClosed = isAlone;
    parts.at(-1)!.push(decision);
    if (decision.hold_key !== null) asked.add(decision.hold_key);
  }
  return parts;
}

/** A value that cannot be stored is searched for alone, so that it refuses nothing but its own event. */
async function decidePart(
  deps: DecideDeps,
  sender: Sender,
  decisions: readonly AskedDecision[],
): Promise<DecisionAnswer[]> {
  try {
    return await decideTogether(deps, sender, decisions);
  } catch (error) {
    if (error instanceof Refusal) return decisions.map(() => ({ refusal: error }));
    if (!isDataError(error)) throw error;
  }
  if (decisions.length === 1) return decideTogether(deps, sender, decisions, true);
  const answers: DecisionAnswer[] = [];
  for (const decision of decisions) answers.push(...(await decidePart(deps, sender, [decision])));
  return answers;
}

async function decideTogether(
  deps: DecideDeps,
  sender: Sender,
  decisions: readonly AskedDecision[],
  refusesEvents = false,
): Promise<DecisionAnswer[]> {
  for (let tried = 1; ; tried += 1) {
    try {
      const decided = await decideOnce(deps, sender, decisions, refusesEvents);
      await follow(deps, sender, decided);
      return decided.answers;
    } catch (error) {
      if (!isOutdated(error) || tried === TRIES) throw error;
      deps.catalogs.forget([sender.organizationId]);
    }
  }
}

/** In one statement; in a transaction where events are stored, or a test clock is held. */
async function decideOnce(
  deps: DecideDeps,
  sender: Sender,
  decisions: readonly AskedDecision[],
  refusesEvents: boolean,
): Promise<AllDecided> {
  const { organizationId, sandbox } = sender;
  const catalog = (await deps.catalogs.of(deps.sql, [organizationId])).get(organizationId);
  if (!catalog) throw refuse.unavailable(); // its organization is gone
  const base = {
    config: deps.config,
    sender,
    catalog,
    books: deps.catalogs.books,
    realNow: isoOfMs(realNowExactMs()),
    refusesEvents,
  };
  const run = async (db: Db) => {
    const present = sandbox ? await presentOf(db, sender) : null;
    const now = present === null ? realNow() : Temporal.Instant.from(present);
    return decideAll({ ...base, db, now, present }, decisions);
  };
  const storesEvents = decisions.some(({ settle }) => settle?.some(({ event, usage }) => event || usage));
  return sandbox || storesEvents ? ((await deps.sql.begin(run)) as AllDecided) : run(deps.sql);
}

/** Present of a sandbox with a test clock, which is held. @throws Refusal 405 test_clock_advancing */
async function presentOf(db: Db, { organizationId }: Sender): Promise<string | null> {
  const [clock] = await holdClocks(db, [organizationId]);
  if (clock?.status === 'advancing') throw refuse.notAllowed('test_clock_advancing');
  return clock?.present ?? null;
}

/** What follows after the commit; sweepers make up for what is lost of it. */
async function follow(deps: DecideDeps, sender: Sender, { stored, step }: AllDecided): Promise<void> {
  if (stored) await followStored(deps, stored.batches, stored.outcome);
  if (step === null) return;
  const { payload, options } = stepJob({ id: step, organization_id: sender.organizationId, customer_id: null });
  await deps.producer.add('step.run', payload, options).catch(() => {});
}

function replyOf(answer: DecisionAnswer): DecisionReply {
  if ('refusal' in answer) return { status: answer.refusal.status, refusal: answer.refusal.body };
  if ('verdicts' in answer) return { status: 200, verdicts: answer.verdicts };
  return { status: 200, body: JSON.stringify({ decision: answer.decision }), isReplayed: answer.isReplayed };
}
