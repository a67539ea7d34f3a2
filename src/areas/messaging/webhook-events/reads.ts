import { setTimeout as pause } from 'node:timers/promises';
import { realNowMs } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';
import { getWebhookEvent, listDeliveriesOfEvent, listFeed, readFeedEnds, type WebhookEventRow } from './queries.ts';
import type { FeedMeta, FeedQuery } from './schema.ts';
import { webhookEventView } from './view.ts';

/** How many rows one answer examines at most when a filter matches nothing. */
const EXAMINED_AT_MOST = 10_000;
/** Events are numbered five times a second. */
const LOOK_AGAIN_MS = 200;

/**
 * The events after a sequence, in order. With `wait` it answers as soon as there is one, or after that many seconds.
 *
 * @throws Refusal 422 after: value_is_out_of_range, when events between it and the oldest one are gone
 */
export async function showFeed(ctx: Context, { query }: { query: FeedQuery }) {
  const endsAtMs = realNowMs() + query.wait * 1000;
  const ends = await readFeedEnds(ctx);
  const after = query.after ?? ends.first - 1;
  if (after < ends.first - 1) throw refuse.invalid({ after: [OUT_OF_RANGE] });
  let page = await examine(ctx, query, after);
  while (page.rows.length === 0 && realNowMs() < endsAtMs) {
    if (!page.meta.has_more) await pause(Math.min(LOOK_AGAIN_MS, endsAtMs - realNowMs()));
    page = await examine(ctx, query, page.meta.next_after);
  }
  return { webhook_events: page.rows.map(webhookEventView), meta: { ...page.meta, after } };
}

async function examine(
  ctx: Context,
  query: FeedQuery,
  after: number,
): Promise<{ rows: WebhookEventRow[]; meta: FeedMeta }> {
  const { first: oldest, last: latest } = await readFeedEnds(ctx);
  const to = Math.min(after + EXAMINED_AT_MOST, latest);
  const rows = to > after ? await listFeed(ctx, { after, to, limit: query.limit }, query) : [];
  const nextAfter = rows.length === query.limit ? rows.at(-1)!.sequence : Math.max(to, after);
  return { rows: [...rows], meta: { after, next_after: nextAfter, latest, oldest, has_more: nextAfter < latest } };
}

/** @throws Refusal 404 webhook_event */
export async function showWebhookEvent(ctx: Context, { svc_id }: { svc_id: string }) {
  const event = await getWebhookEvent(ctx, svc_id);
  const deliveries = await listDeliveriesOfEvent(ctx, event.id);
  return {
    webhook_event: {
      ...webhookEventView(event),
      deliveries: deliveries.map(({ id, webhook_endpoint_id, ...state }) => ({
        svc_id: id,
        svc_webhook_endpoint_id: webhook_endpoint_id,
        ...state,
      })),
    },
  };
}
