import { type JobsOptions, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { type JobName, type JobPayload, jobs, type QueueName, queues } from '../../queues.ts';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId } from '../ids.ts';
import { noteAccessChanges } from '../redis/access-changes.ts';
import { inParts } from '../turns/turns.ts';
import { createGatherer } from './gather.ts';

/** Completed jobs are not kept, failed ones are kept for inspection (queues-and-workers.md). */
const KEEP = { removeOnComplete: true, removeOnFail: { count: 1000 } } as const;
const EVENT_STREAM_MAX = 1000;
/** BullMQ takes jobs without a priority before any with one. */
const BACKGROUND_PRIORITY = 10;
/** Longest wait of deliveries for others of their endpoint; at low load they do not wait. */
const DELIVER_EVERY_MS = 100;
/** How many deliveries one job holds. */
const DELIVERIES_PER_JOB = 10;

export interface AddOptions {
  /** A second nudge with the same id is ignored while the first is stored; without `:`. */
  id?: string;
  delayMs?: number;
  /**
   * Whether a job that failed for good is removed, so that its id may be nudged again; for work that is selected
   * repeatedly.
   */
  forgetFailed?: boolean;
  /** Runs after everything else in its queue, so that fanned-out work does not delay requests. */
  inBackground?: boolean;
}

/** Puts jobs into their queues by name. */
export interface Producer {
  add<Name extends JobName>(name: Name, payload: JobPayload<Name>, options?: AddOptions): Promise<void>;
  addMany<Name extends JobName>(
    name: Name,
    items: { payload: JobPayload<Name>; options?: AddOptions }[],
  ): Promise<void>;
  /** Reports what a committed transaction changed for access checks; not a job, but sent beside the nudges. */
  accessChanged(organizationId: OrganizationId, scopes: readonly string[]): Promise<void>;
  /** Enqueues deliveries of one endpoint, in jobs that they share with others of the same tenth of a second. */
  deliver(
    organizationId: OrganizationId,
    endpointId: WebhookEndpointId,
    deliveryIds: readonly WebhookDeliveryId[],
  ): void;
  queue(name: QueueName): Queue;
  /** Sends what waits to share a job, and ends the queues. */
  close(): Promise<void>;
}

export function createProducer(redis: Redis, prefix: string): Producer {
  const open = new Map<QueueName, Queue>();
  const queue = (name: QueueName): Queue => {
    let found = open.get(name);
    if (!found) {
      found = new Queue(name, { connection: redis, prefix, streams: { events: { maxLen: EVENT_STREAM_MAX } } });
      found.on('error', () => {}); // the connection reconnects by itself
      open.set(name, found);
    }
    return found;
  };
  const optionsOf = (name: JobName, options: AddOptions = {}): JobsOptions => {
    const spec = queues[jobs[name].queue];
    return {
      ...KEEP,
      ...(options.forgetFailed ? { removeOnFail: true } : {}),
      attempts: spec.attempts,
      backoff: { ...spec.backoff },
      ...(options.id === undefined ? {} : { jobId: options.id }),
      ...(options.inBackground ? { priority: BACKGROUND_PRIORITY } : {}),
      ...(options.delayMs === undefined ? {} : { delay: options.delayMs }),
    };
  };
  const addMany: Producer['addMany'] = async (name, items) => {
    if (items.length === 0) return;
    await queue(jobs[name].queue).addBulk(
      items.map((item) => ({ name, data: item.payload, opts: optionsOf(name, item.options) })),
    );
  };
  // By `organization/endpoint`: ids hold no slash.
  const deliveries = createGatherer<string, WebhookDeliveryId>(
    (key, gathered) => {
      const [organization_id, webhook_endpoint_id] = key.split('/') as [OrganizationId, WebhookEndpointId];
      return addMany(
        'webhook.deliver',
        inParts(gathered, DELIVERIES_PER_JOB).map((ids) => ({
          payload: { organization_id, webhook_endpoint_id, delivery_ids: ids },
          options: { id: `deliver-${ids[0]}` },
        })),
      );
    },
    { everyMs: DELIVER_EVERY_MS, most: DELIVERIES_PER_JOB },
  );
  return {
    async add(name, payload, options) {
      await queue(jobs[name].queue).add(name, payload, optionsOf(name, options));
    },
    addMany,
    deliver: (organizationId, endpointId, ids) => deliveries.add(`${organizationId}/${endpointId}`, ids),
    accessChanged: (organizationId, scopes) => noteAccessChanges(redis, prefix, organizationId, scopes),
    queue,
    async close() {
      await deliveries.flush();
      await Promise.all([...open.values()].map((each) => each.close()));
    },
  };
}
