import { type JobsOptions, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { type JobName, type JobPayload, jobs, type QueueName, queues } from '../../queues.ts';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId } from '../ids.ts';
import { noteAccessChanges } from '../redis/access-changes.ts';
import { noteFallback } from '../redis/fallbacks.ts';
import { inParts } from '../turns/turns.ts';
import { createGatherer } from './gather.ts';
import { keyPrefix, type Parts, partOf, storedNames } from './queue-names.ts';

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
  /** The part of its queue that gets a job without an organization; the first, when absent. */
  part?: number;
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
  /** A queue that has one part, or its first part. */
  queue(name: QueueName): Queue;
  /** Every queue as Redis has it: all parts of all queues. */
  storedQueues(): { of: QueueName; queue: Queue }[];
  /** How many jobs wait in the queue of a job, also those that wait for their share of the slots or for their time. */
  waiting(name: JobName): Promise<number>;
  /** Sends what waits to share a job, and ends the queues. */
  close(): Promise<void>;
}

export function createProducer(redis: Redis, prefix: string, parts: Parts = {}): Producer {
  const open = new Map<string, Queue>();
  const stored = (name: string): Queue => {
    let found = open.get(name);
    if (!found) {
      const streams = { events: { maxLen: EVENT_STREAM_MAX } };
      found = new Queue(name, { connection: redis, prefix: keyPrefix(prefix, name), streams });
      found.on('error', () => {}); // the connection reconnects by itself
      open.set(name, found);
    }
    return found;
  };
  const names = Object.fromEntries(
    (Object.keys(queues) as QueueName[]).map((name) => [name, storedNames(name, parts)]),
  ) as Record<QueueName, string[]>;
  const queue = (name: QueueName): Queue => stored(names[name][0]!);
  const queueFor = (name: JobName, payload: object, part = 0): Queue => {
    const own = names[jobs[name].queue];
    if (own.length === 1) return stored(own[0]!);
    const { organization_id: id } = payload as { organization_id?: OrganizationId };
    return stored(own[id === undefined ? part : partOf(id, own.length)]!);
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
    const bulks = new Map<Queue, { name: string; data: unknown; opts: JobsOptions }[]>();
    for (const { payload, options } of items) {
      const target = queueFor(name, payload, options?.part);
      const bulk = bulks.get(target) ?? [];
      bulks.set(target, bulk);
      bulk.push({ name, data: payload, opts: optionsOf(name, options) });
    }
    await Promise.all([...bulks].map(([target, bulk]) => target.addBulk(bulk)));
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
      ).catch((error) => noteFallback(redis, 'delivery jobs', error));
    },
    { everyMs: DELIVER_EVERY_MS, most: DELIVERIES_PER_JOB },
  );
  return {
    async add(name, payload, options) {
      await queueFor(name, payload, options?.part).add(name, payload, optionsOf(name, options));
    },
    addMany,
    deliver: (organizationId, endpointId, ids) => deliveries.add(`${organizationId}/${endpointId}`, ids),
    accessChanged: (organizationId, scopes) => noteAccessChanges(redis, prefix, organizationId, scopes),
    queue,
    storedQueues: () =>
      (Object.keys(queues) as QueueName[]).flatMap((of) => names[of].map((name) => ({ of, queue: stored(name) }))),
    async waiting(name) {
      const counts = await queue(jobs[name].queue).getJobCounts('waiting', 'prioritized', 'delayed');
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    async close() {
      await deliveries.flush();
      await Promise.all([...open.values()].map((each) => each.close()));
    },
  };
}
