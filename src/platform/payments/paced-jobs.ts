import type { JobInfo } from '../queue/worker.ts';
import { TooManyCalls } from './port.ts';
import { Later, type ProviderCalls } from './provider-calls.ts';

/**
 * The handler of a job whose calls are paced. When its turn has not come, or the provider says that it was one call too
 * many, the job comes back later and uses no attempt. Rule: provider-connections.md#many-calls.
 */
export const paced =
  <Payload>(
    callsOf: (jobId: string) => ProviderCalls,
    run: (payload: Payload, calls: ProviderCalls, info: JobInfo) => Promise<void>,
  ) =>
  async (payload: Payload, info: JobInfo): Promise<void> => {
    const calls = callsOf(info.id);
    try {
      await run(payload, calls, info);
    } catch (error) {
      if (error instanceof Later) return info.comeBack(error.delayMs);
      const pauseMs = error instanceof TooManyCalls ? await calls.pauseAfterRefusal(error.saidMs) : undefined;
      if (pauseMs === undefined) throw error;
      return info.comeBack(pauseMs);
    }
  };
