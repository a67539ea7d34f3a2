import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getWebhookEndpoint } from '../webhook-endpoints/queries.ts';
import type { ReplayInput } from './schema.ts';
import { insertReplay, lockReplays } from './writes.ts';

/** How many deliveries one call may send again (webhooks.md#delivery-log). */
const AT_MOST = 10_000;
/** Fifty a second (event-feed.md). */
const APART_MS = 20;

/**
 * Makes new deliveries to an endpoint of events of the feed, in their order, those with types it listens to. With
 * `only_missing` (the default, unless `statuses` names `succeeded`) an event that has arrived there, or is on its way,
 * is left out, so that a call may be repeated until it answers 0. Without a range the whole feed is meant.
 *
 * @throws Refusal 404 webhook_endpoint
 * @throws Refusal 405 invalid_status, when the endpoint is disabled
 */
export async function replayWebhooks(ctx: Context, { svc_id, body }: { svc_id: string; body?: ReplayInput }) {
  const endpoint = await getWebhookEndpoint(ctx, svc_id);
  if (endpoint.status === 'disabled') throw refuse.notAllowed('invalid_status');
  await lockReplays(ctx.db, endpoint.id);
  const chosen = body ?? {};
  const runId = newId();
  const count = await insertReplay(ctx.db, {
    runId,
    endpoint,
    chosen: { ...chosen, only_missing: chosen.only_missing ?? !chosen.statuses?.includes('succeeded') },
    realNow: realNow(),
    apartMs: APART_MS,
    limit: AT_MOST,
  });
  if (count > 0)
    ctx.after({
      nudge: 'webhook.replay',
      // of each delivery, for the sweeper of deliveries
      payload: { webhook_endpoint_id: endpoint.id, replay_id: runId },
    });
  return { replay: { count, svc_run_id: runId } };
}
