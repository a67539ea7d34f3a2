import type { SweepDeps, SweepJob } from '../../platform/periodic-job.ts';
import { disableWebhookEndpoint } from '../../resources/webhook-endpoints/writes.ts';
import { shortenFeeds } from '../number-events/shorten-feeds.ts';
import {
  deleteOldDeliveries,
  listDeadEndpoints,
  listEndpointsWithOldDeliveries,
  type OverdueDelivery,
  takeOverdue,
} from './sql.ts';

/** An attempt that was due so long ago and was not made has lost its job (platform G.7). */
const OVERDUE_MINUTES = 2;
const SWEEP_PAGE = 1000;
/** More waits for the next minute. */
const SWEEP_MOST_PAGES = 50;
export const FIRST_ATTEMPTS_PER_JOB = 10;

/** Endpoints are given so much time to recover. */
const DEAD_AFTER_HOURS = 5 * 24;

const KEEP_DAYS = 90;
const DELETE_BATCH = 1000;

/** Deliveries whose job was lost get a new one (platform L `webhook-sweeper`). */
export const webhookSweeper: SweepJob = {
  name: 'webhook-sweeper',
  async sweep({ sql, producer }, at) {
    const overdueSince = at.subtract({ minutes: OVERDUE_MINUTES });
    for (let page = 0; page < SWEEP_MOST_PAGES; page += 1) {
      const overdue = await takeOverdue(sql, overdueSince, at, SWEEP_PAGE);
      await producer.addMany('webhook.deliver', groups(overdue).map(toJob));
      if (overdue.length < SWEEP_PAGE) return;
    }
  },
};

/** Up to 10 first attempts of one endpoint together, each retry alone. */
function groups(deliveries: OverdueDelivery[]): OverdueDelivery[][] {
  const open = new Map<string, OverdueDelivery[]>();
  const all: OverdueDelivery[][] = [];
  for (const delivery of deliveries) {
    const group = delivery.status === 'pending' ? open.get(delivery.webhook_endpoint_id) : undefined;
    if (group && group.length < FIRST_ATTEMPTS_PER_JOB) {
      group.push(delivery);
      continue;
    }
    const started = [delivery];
    all.push(started);
    if (delivery.status === 'pending') open.set(delivery.webhook_endpoint_id, started);
  }
  return all;
}

const toJob = (group: OverdueDelivery[]) => {
  const first = group[0]!;
  return {
    payload: {
      organization_id: first.organization_id,
      webhook_endpoint_id: first.webhook_endpoint_id,
      delivery_ids: group.map((delivery) => delivery.id),
    },
    options: { id: `sweep-${first.id}-${first.retries}`, forgetFailed: true },
  };
};

/** Endpoints all of whose attempts have failed for 5 days are taken out of service (platform L `endpoint-health`). */
export const endpointHealth: SweepJob = {
  name: 'endpoint-health',
  async sweep({ sql, log }: SweepDeps, at) {
    const dead = await listDeadEndpoints(sql, at.subtract({ hours: DEAD_AFTER_HOURS }), DEAD_AFTER_HOURS);
    for (const { id, organization_id } of dead) {
      await disableWebhookEndpoint(sql, { organizationId: organization_id, id, reason: 'failing', at });
      log.warn({ organization_id, webhook_endpoint_id: id, reason: 'failing' }, 'webhook endpoint disabled');
    }
  },
};

/**
 * Deliveries that nobody has touched for 90 days are removed, and events that have left the feed (platform L
 * `clean-webhooks`, beyond 10).
 */
export const cleanWebhooks: SweepJob = {
  name: 'clean-webhooks',
  async sweep({ sql, config }, at) {
    const cutoff = at.subtract({ hours: KEEP_DAYS * 24 });
    for (const { id, organization_id } of await listEndpointsWithOldDeliveries(sql, cutoff)) {
      let deleted: number;
      do deleted = await deleteOldDeliveries(sql, organization_id, id, cutoff, DELETE_BATCH);
      while (deleted === DELETE_BATCH);
    }
    await shortenFeeds(sql, at.subtract({ hours: 24 * config.FEED_RETENTION_DAYS }));
  },
};
