import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { LATENCY_CLASSES, latencyQuantileMs, successRate } from './health-figures.ts';
import { countPending, listHealthHours } from './health-queries.ts';
import { getWebhookEndpoint } from './queries.ts';
import type { WebhookEndpointHealth, WebhookEndpointHealthQuery } from './schema.ts';

/** How many waiting deliveries are counted. */
const MOST_COUNTED = 10_000;

const HOUR_MS = 3_600_000;

/**
 * How well an endpoint has answered in the newest hours of the real clock, the one in progress included: deliveries
 * that ended, how long attempts took, and what waits. Three statements.
 *
 * @throws Refusal 404 webhook_endpoint
 * Rule: webhooks.md#health.
 */
export async function showWebhookEndpointHealth(
  ctx: Context,
  { svc_id, query }: { svc_id: string; query: WebhookEndpointHealthQuery },
): Promise<WebhookEndpointHealth> {
  const { id } = await getWebhookEndpoint(ctx, svc_id);
  const now = realNow();
  const sinceHourMs = now.epochMilliseconds % HOUR_MS;
  const first = now.subtract({ milliseconds: sinceHourMs + (query.hours - 1) * HOUR_MS }).round('second');
  const [hours, pending] = await Promise.all([listHealthHours(ctx, id, first), countPending(ctx, id, MOST_COUNTED)]);
  const byHour = new Map(hours.map((row) => [row.hour.epochMilliseconds, row]));
  const points = Array.from({ length: query.hours }, (_, index) => {
    const hour = first.add({ hours: index });
    const { succeeded, failed } = byHour.get(hour.epochMilliseconds) ?? { succeeded: 0, failed: 0 };
    return { hour: hour.toString(), succeeded, failed };
  });
  const total = (of: 'succeeded' | 'failed') => points.reduce((sum, point) => sum + point[of], 0);
  const ended = { succeeded: total('succeeded'), failed: total('failed') };
  const latency = Array.from({ length: LATENCY_CLASSES }, (_, index) =>
    hours.reduce((sum, row) => sum + row.latency[index]!, 0),
  );
  return {
    health: {
      ...ended,
      pending,
      success_rate: successRate(ended),
      p50_ms: latencyQuantileMs(latency, 0.5),
      p95_ms: latencyQuantileMs(latency, 0.95),
      points,
    },
  };
}
