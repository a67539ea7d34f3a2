import type { SweepDeps, SweepJob } from '../../../platform/periodic-job.ts';
import { shortenFeeds } from '../number-events/shorten-feeds.ts';
import { disableWebhookEndpoint } from '../webhook-endpoints/writes.ts';
import { deleteOldDeliveries, listDeadEndpoints, listEndpointsWithOldDeliveries } from './stored-deliveries.ts';
import { OVERDUE_MS, walkWaitingEndpoints } from './walk-endpoint.ts';

/** Days that a failing endpoint has to recover. */
const DEAD_AFTER_HOURS = 5 * 24;

const KEEP_DAYS = 90;
const DELETE_BATCH = 1000;

/** Deliveries whose job was lost, or that wait as rows alone, get one (periodic-jobs.md#webhook-sweeper). */
export const webhookSweeper: SweepJob = {
  name: 'webhook-sweeper',
  sweep: (deps, at) => walkWaitingEndpoints(deps, at, OVERDUE_MS),
};

/**
 * Endpoints all of whose attempts have failed for 5 days are taken out of service (periodic-jobs.md#endpoint-health).
 */
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
 * Deliveries that have not changed for 90 days are removed, and events that have left the feed (periodic-jobs.md
 * `clean-webhooks`, event-feed.md).
 */
export const cleanWebhooks: SweepJob = {
  name: 'clean-webhooks',
  async sweep({ sql, config }, at, hold) {
    const cutoff = at.subtract({ hours: KEEP_DAYS * 24 });
    for (const { id, organization_id } of await listEndpointsWithOldDeliveries(sql, cutoff)) {
      let deleted: number;
      do {
        await hold?.();
        const page = { cutoff, limit: DELETE_BATCH };
        deleted = await deleteOldDeliveries({ db: sql, organizationId: organization_id }, id, page);
      } while (deleted === DELETE_BATCH);
    }
    await shortenFeeds(sql, at.subtract({ hours: 24 * config.FEED_RETENTION_DAYS }));
  },
};
