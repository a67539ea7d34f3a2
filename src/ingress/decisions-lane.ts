import type { AskedDecision } from '../areas/usage/budget-holds/asked-decision.ts';
import { DECIDING_FAILED, type DecisionReply } from '../areas/usage/budget-holds/decision-jobs.ts';
import type { Verdict } from '../areas/usage/events/incoming-event.ts';
import { assert } from '../engine/assert.ts';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Config } from '../platform/config.ts';
import type { OrganizationId } from '../platform/ids.ts';
import { newId } from '../platform/ids.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { Refusal, refuse } from '../platform/refusal.ts';
import type { Replies } from '../platform/replies/replies.ts';
import { type HandOver, replyUnlessRefused } from './watch-pools.ts';

/** Limits of budgets.md#decisions: a job is one statement under locks, and one organization's. */
const MOST_IN_JOB = 200;
const MOST_CHARACTERS = 512 * 1024;
const MOST_IN_FLIGHT = 16;
const MOST_WAITING = 5000;

const REPLAYED = { 'X-Svc-Replayed': 'true' };
const NO_HEADERS: Record<string, string> = {};

interface LaneDeps {
  producer: Pick<Producer, 'add'>;
  replies: Replies;
  config: Pick<Config, 'WRITE_TIMEOUT_SECONDS'>;
  processId: string;
  handOver: Pick<HandOver, 'refuseIfInVain'>;
}

/** A question with who asks it. */
interface Asked {
  organizationId: OrganizationId;
  sandbox: boolean;
  requestId: string;
  decision: AskedDecision;
}

interface Waiting extends Asked {
  /** Decisions and settlements, and characters, that it adds to a job. */
  weight: number;
  characters: number;
  resolve(reply: DecisionReply): void;
  reject(error: unknown): void;
}

interface DecisionOutcome {
  status: number;
  text: string;
  headers: Record<string, string>;
}

/** Collects the decisions of each organization into few jobs. */
export interface DecisionsLane {
  /**
   * @throws Refusal of the decision; 503 when nobody would decide, too many wait or deciding failed for good; 504
   *   write_pending
   */
  decide(asked: Asked): Promise<DecisionOutcome>;
  /**
   * Settles with usage that came to a door of its own.
   *
   * @returns verdicts on the events of each settlement
   * @throws Refusal as decide; 422 by place, of calls that are stored as a whole
   */
  settle(asked: Asked): Promise<Verdict[][]>;
  /** Sends what waits and answers it. */
  stop(): Promise<void>;
}

/**
 * Sends the decisions of one organization in one job at a time: those that come meanwhile go in the next one, so that a
 * window is locked once for many callers, and organizations never wait for each other's windows. They take turns for
 * the jobs in flight. Rule: budgets.md#decisions.
 */
export function createDecisionsLane(deps: LaneDeps): DecisionsLane {
  const timeoutMs = deps.config.WRITE_TIMEOUT_SECONDS * 1000;
  /** Lines of organizations without a job in flight, in the order of turns. */
  const lines = new Map<OrganizationId, Waiting[]>();
  const busy = new Map<OrganizationId, Waiting[]>();
  const sending = new Set<Promise<void>>();
  let waiting = 0;

  function sendDue(): void {
    for (const [id, line] of lines) {
      if (busy.size >= MOST_IN_FLIGHT) return;
      lines.delete(id);
      busy.set(id, line);
      const sent: Promise<void> = deliver(takeJob(line)).finally(() => {
        sending.delete(sent);
        busy.delete(id);
        if (line.length > 0) lines.set(id, line);
        sendDue();
      });
      sending.add(sent);
    }
  }

  async function deliver(job: readonly Waiting[]): Promise<void> {
    waiting -= job.length;
    const [{ organizationId, sandbox }] = job as [Waiting];
    const cid = newId();
    const reply = deps.replies.wait(cid, timeoutMs);
    const decisions = job.map(({ decision }) => decision);
    const payload = { v: 1, from: deps.processId, cid, at: realNowMs(), sandbox, decisions } as const;
    const added = deps.producer.add('decisions.decide', { ...payload, organization_id: organizationId }, { id: cid });
    try {
      const replies = await replyUnlessRefused(added, reply);
      for (const [index, each] of job.entries()) settle(each, replies, index);
    } catch (error) {
      for (const { reject } of job) reject(error);
    }
  }

  async function ask(asked: Asked): Promise<Exclude<DecisionReply, { refusal: unknown }>> {
    deps.handOver.refuseIfInVain('decisions');
    if (waiting >= MOST_WAITING) throw refuse.unavailable();
    waiting += 1;
    const reply = await new Promise<DecisionReply>((resolve, reject) => {
      const weight = 1 + (asked.decision.settle?.length ?? 0);
      const each = { ...asked, weight, characters: JSON.stringify(asked.decision).length, resolve, reject };
      const line = busy.get(asked.organizationId) ?? lines.get(asked.organizationId);
      if (line) line.push(each);
      else {
        lines.set(asked.organizationId, [each]);
        // Requests of the same turn of the event loop go together.
        setImmediate(sendDue);
      }
    });
    if (!('refusal' in reply)) return reply;
    const { status: _, ...body } = reply.refusal;
    throw new Refusal(reply.status, body);
  }

  return {
    async decide(asked) {
      const reply = await ask(asked);
      assert('body' in reply, 'a decision is answered with its text');
      return { status: 200, text: reply.body, headers: reply.isReplayed ? REPLAYED : NO_HEADERS };
    },
    async settle(asked) {
      const reply = await ask(asked);
      assert('verdicts' in reply, 'usage of a door is answered with verdicts');
      return reply.verdicts;
    },
    async stop() {
      while (sending.size > 0 || lines.size > 0) {
        sendDue();
        await Promise.allSettled(sending);
      }
    },
  };
}

/** Takes the oldest decisions that fit into one job off the line; the first one always fits. */
function takeJob(line: Waiting[]): Waiting[] {
  let weight = 0;
  let characters = 0;
  let count = 0;
  for (const each of line) {
    weight += each.weight;
    characters += each.characters;
    if (count > 0 && (weight > MOST_IN_JOB || characters > MOST_CHARACTERS)) break;
    count += 1;
  }
  return line.splice(0, count);
}

function settle({ resolve, reject, requestId }: Waiting, replies: unknown, index: number): void {
  if (replies === undefined) reject(refuse.writePending(requestId));
  else if (replies === DECIDING_FAILED) reject(refuse.unavailable());
  else resolve((replies as DecisionReply[])[index]!);
}
