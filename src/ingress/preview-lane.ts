import { realNowMs } from '../platform/clock/real-clock.ts';
import { newId } from '../platform/ids.ts';
import { refuse } from '../platform/refusal.ts';
import type { Command, CommandAnswer, CommandLaneDeps } from './command-lane.ts';
import { replyUnlessRefused } from './watch-pools.ts';

/**
 * Sends reads that are too expensive for this process to their pool and waits for their results. Without an answer
 * within the write timeout it returns 503: nothing is pending, and the caller may try again.
 */
export function createPreviewLane(deps: Omit<CommandLaneDeps, 'sql'>) {
  return {
    async run(command: Command): Promise<CommandAnswer> {
      const cid = newId();
      const reply = deps.replies.wait(cid, deps.config.WRITE_TIMEOUT_SECONDS * 1000);
      const payload = { v: 1, from: deps.processId, cid, at: realNowMs(), ...command } as const;
      // Not awaited: see createCommandLane.
      const added = deps.producer.add('preview.run', payload, { id: cid });
      const answer = (await replyUnlessRefused(added, reply)) as CommandAnswer | undefined;
      if (!answer) throw refuse.unavailable();
      return answer;
    },
  };
}

export type PreviewLane = ReturnType<typeof createPreviewLane>;
