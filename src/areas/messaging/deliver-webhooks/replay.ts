import { realNowMs } from '../../../platform/clock/real-clock.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import type { SendDeps } from './send.ts';
import { listReplay } from './stored-deliveries.ts';
import { FIRST_ATTEMPTS_PER_JOB } from './walk-endpoint.ts';

/**
 * Handler of `webhook.replay`: puts the deliveries of a replay into the queue, each job for the instant at which its
 * last delivery is due. What a lost job leaves behind is found by the sweeper.
 */
export function replayHandlers({
  sql,
  producer,
}: Pick<SendDeps, 'sql' | 'producer'>): Pick<Handlers, 'webhook.replay'> {
  return {
    async 'webhook.replay'({ organization_id, webhook_endpoint_id, replay_id }) {
      const waiting = await listReplay(sql, {
        organizationId: organization_id,
        endpointId: webhook_endpoint_id,
        replayId: replay_id,
      });
      const nowMs = realNowMs();
      const jobs = [];
      for (let start = 0; start < waiting.length; start += FIRST_ATTEMPTS_PER_JOB) {
        const group = waiting.slice(start, start + FIRST_ATTEMPTS_PER_JOB);
        const delayMs = Math.max(group.at(-1)!.next_attempt_at.epochMilliseconds - nowMs, 0);
        jobs.push({
          payload: { organization_id, webhook_endpoint_id, delivery_ids: group.map((delivery) => delivery.id) },
          options: { id: `replay-${group[0]!.id}`, delayMs, forgetFailed: true },
        });
      }
      await producer.addMany('webhook.deliver', jobs);
    },
  };
}
