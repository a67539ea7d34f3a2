import { setTimeout as pause } from 'node:timers/promises';
import { realNowMs } from '../platform/clock/real-clock.ts';
import { newId } from '../platform/ids.ts';
import { refuse } from '../platform/refusal.ts';
import type { JobPayload } from '../queues.ts';
import type { Command, CommandAnswer, CommandLaneDeps } from './command-lane.ts';
import { replyUnlessRefused } from './watch-pools.ts';
import { answerOrPending } from './write-pending.ts';

/** A job that takes longer frees its place, because that of a killed worker runs again only after about this time. */
const SLOW_JOB_MS = 3000;
/** How many jobs of one record are under way: a second one only beside a slow first one. */
const MOST_IN_FLIGHT = 2;
/**
 * How many commands may wait in this process for one record; more are refused. At 200 a second, more would reach the
 * timeout.
 */
const MOST_WAITING = 2000;
/**
 * How many commands one job holds. Many together cost less each, but all their answers and the requests that follow
 * them are one piece of work for this process, which delays all other requests. Measured with 100 callers of one
 * wallet: jobs of 100 without a rest 1500 to 2300 holds a second and twice the p50 of another organization's writes; 25
 * with the rest below 500 to 850 and 1.1 ×.
 */
const MOST_TOGETHER = 25;
/** Weight in a job of a command that runs in its own transaction: it takes about as long as this many others. */
const ALONE_WEIGHT = 10;
/** Pause after a job as a multiple of its duration, if commands wait: one record takes a third of the time. */
const REST_FACTOR = 2;
/** Longest pause, because a job that waited for a lock needs no longer one. */
const LONGEST_REST_MS = 100;

interface Waiting {
  command: JobPayload<'command.run'>;
  weight: number;
  /** Ends it: its job was not taken. */
  fail(error: unknown): void;
}

/** Commands that wait for one record, and the jobs in flight for it. */
interface Line {
  waiting: Waiting[];
  jobs: Set<{ isSlow: boolean }>;
}

/** A command with the rule by which it is gathered. */
export interface GatheredCommand {
  command: Command;
  /** The record that it waits for; organizations never share one. */
  key: string;
  isAlone: boolean;
}

/**
 * Sends commands that wait for one record in few jobs: the first at once, later ones together a while after it has
 * ended. So many callers take neither a connection nor a slot while they wait for each other, and one record never
 * takes the whole processor. A single caller never waits. Answers and the write timeout are those of any command; a
 * command not sent by then is not run (everywhere.md#writes-are-jobs).
 */
export function createGatheringLane(deps: CommandLaneDeps) {
  const timeoutMs = deps.config.WRITE_TIMEOUT_SECONDS * 1000;
  const lines = new Map<string, Line>();

  const maySend = ({ waiting, jobs }: Line): boolean =>
    waiting.length > 0 && jobs.size < MOST_IN_FLIGHT && [...jobs].every(({ isSlow }) => isSlow);

  function send(key: string, line: Line): void {
    if (!maySend(line)) return;
    const job = { isSlow: false };
    line.jobs.add(job);
    const slow = setTimeout(() => {
      job.isSlow = true;
      send(key, line);
    }, SLOW_JOB_MS);
    void deliverAndRest(key, line).then(() => {
      clearTimeout(slow);
      line.jobs.delete(job);
      send(key, line);
      if (line.jobs.size === 0) lines.delete(key);
    });
  }

  async function deliverAndRest(key: string, { waiting }: Line): Promise<void> {
    const startedAt = performance.now();
    await deliver(key, takeJob(waiting));
    const restMs = Math.min(REST_FACTOR * (performance.now() - startedAt), LONGEST_REST_MS);
    if (waiting.length > 0) await pause(restMs);
  }

  /** Resolves when the job has ended, or when its callers no longer wait. */
  async function deliver(key: string, sent: Waiting[]): Promise<void> {
    const cid = newId();
    const ended = deps.replies.wait(cid, timeoutMs);
    const commands = sent.map(({ command }) => command);
    const { organization_id } = commands[0]!;
    const owner = { organization_id, customer_key: key };
    const payload = { v: 1, from: deps.processId, cid, at: realNowMs(), ...owner, commands } as const;
    // Not awaited: see createCommandLane.
    const added = deps.producer.add('command.run-gathered', payload, { id: cid });
    await replyUnlessRefused(added, ended).catch((error) => {
      for (const { fail } of sent) fail(error);
    });
  }

  return {
    async run({ command, key, isAlone }: GatheredCommand): Promise<CommandAnswer> {
      const line = lines.get(key) ?? { waiting: [], jobs: new Set() };
      if (line.waiting.length >= MOST_WAITING) throw refuse.unavailable();
      lines.set(key, line);
      const cid = newId();
      const reply = deps.replies.wait(cid, timeoutMs);
      let sent!: Waiting;
      const failed = new Promise<never>((_resolve, reject) => {
        sent = {
          command: { v: 1, from: deps.processId, cid, at: realNowMs(), ...command },
          weight: isAlone ? ALONE_WEIGHT : 1,
          fail: reject,
        };
      });
      line.waiting.push(sent);
      send(key, line);
      const answer = (await Promise.race([reply, failed])) as CommandAnswer | undefined;
      if (answer) return answer;
      const place = line.waiting.indexOf(sent);
      if (place >= 0) line.waiting.splice(place, 1);
      return answerOrPending(deps, command, cid);
    },
  };
}

export type GatheringLane = ReturnType<typeof createGatheringLane>;

/** Takes the oldest commands that fit into one job off the line; the first one always fits. */
function takeJob(waiting: Waiting[]): Waiting[] {
  let weight = 0;
  let count = 0;
  for (const each of waiting) {
    weight += each.weight;
    if (count > 0 && weight > MOST_TOGETHER) break;
    count += 1;
  }
  return waiting.splice(0, count);
}
