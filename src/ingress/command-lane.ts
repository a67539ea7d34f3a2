import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import type { OrganizationId } from '../platform/ids.ts';
import { newId } from '../platform/ids.ts';
import type { Producer } from '../platform/queue/producer.ts';
import type { Replies } from '../platform/replies/replies.ts';
import { isSealed } from '../platform/secrets/seal.ts';
import { inputPlace, replyPlace, type SealedInput } from '../platform/secrets/secret-places.ts';
import { type Deployment, openText, sealText } from '../platform/secrets/secrets.ts';
import type { CommandJobName, JobPayload } from '../queues.ts';
import { replyUnlessRefused } from './watch-pools.ts';
import { answerOrPending } from './write-pending.ts';

export type Command = Omit<JobPayload<'command.run'>, 'v' | 'from' | 'cid' | 'at' | 'sealed'>;

/** How a command travels. */
interface Travel {
  job?: CommandJobName;
  /** The input holds secrets: only its worker may read it. */
  isSecret?: boolean;
}

export interface CommandAnswer {
  status: number;
  body: string;
  headers: Record<string, string>;
}

export interface CommandLaneDeps {
  sql: Sql;
  producer: Producer;
  replies: Replies;
  config: Config;
  processId: string;
  /** Keeps up to where replicas must have come after a write of which only the stored answer was found. */
  keepPosition?(organizationId: OrganizationId): Promise<void>;
}

/**
 * Sends commands to their pool and waits for their answers. No answer within the write timeout: the answer that was
 * committed, if its reply got lost, else 504 write_pending; the command then still runs at most once
 * (everywhere.md#writes-are-jobs). A command that Redis refused: 503 at once.
 */
export function createCommandLane(deps: CommandLaneDeps) {
  const timeoutMs = deps.config.WRITE_TIMEOUT_SECONDS * 1000;
  const deployment = { db: deps.sql, config: deps.config };
  return {
    async run(command: Command, { job = 'command.run', isSecret = false }: Travel = {}): Promise<CommandAnswer> {
      const cid = newId();
      const sent = isSecret ? await sealedCommand(deployment, cid, command) : command;
      const reply = deps.replies.wait(cid, timeoutMs);
      const payload: JobPayload<'command.run'> = {
        v: 1,
        from: deps.processId,
        cid,
        at: realNowMs(),
        ...(job === 'asking.command' ? { record_id: newId() } : {}),
        ...sent,
      };
      // Not awaited: with Redis away the call waits for it, and the caller must not.
      const added = deps.producer.add(job, payload, { id: cid });
      const answer = (await replyUnlessRefused(added, reply)) as CommandAnswer | undefined;
      if (!answer) return answerOrPending(deps, command, cid);
      return isSealed(answer.body)
        ? { ...answer, body: await openText(deployment, answer.body, replyPlace(cid)) }
        : answer;
    },
  };
}

/** The command with its input sealed. */
async function sealedCommand(deployment: Deployment, cid: string, { input, request, ...facts }: Command) {
  const secrets: SealedInput = { input, parameters: request.parameters };
  const sealed = await sealText(deployment, JSON.stringify(secrets), inputPlace(cid));
  return { ...facts, input: null, request: { ...request, parameters: null }, sealed };
}

export type CommandLane = ReturnType<typeof createCommandLane>;
