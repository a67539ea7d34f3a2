import type { IncomingBatch, Verdict } from '../../areas/usage/events/incoming-event.ts';
import { realNowMs } from '../../platform/clock/real-clock.ts';
import type { Config } from '../../platform/config.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import { partOf } from '../../platform/queue/queue-names.ts';
import type { Replies } from '../../platform/replies/replies.ts';
import { MOST_BYTES, openStoreLane, type StoreLane, type Waiting } from './fill-jobs.ts';

export interface CoalescerDeps {
  producer: Pick<Producer, 'add'>;
  replies: Replies;
  config: Pick<Config, 'WRITE_TIMEOUT_SECONDS' | 'EVENTS_MAX_WAITING' | 'EVENTS_QUEUES'>;
  /** Reply channel of this process. */
  processId: string;
}

/** Collects the events of concurrent requests into few jobs. */
export interface Coalescer {
  /**
   * Sends the events of one request and resolves when they are stored, with a verdict for each.
   *
   * @throws Refusal 503 when storing failed for good, 504 write_pending after the write timeout
   */
  send(batch: IncomingBatch, requestId: string): Promise<Verdict[]>;
  /**
   * Whether a request must be refused before its body is parsed because too many events wait, in total or of this
   * organization.
   */
  isFull(organizationId: OrganizationId): boolean;
  /** Sends open requests and waits until they are acknowledged. */
  stop(): Promise<void>;
}

/** How many characters an event takes in a job, beside its properties and keys. */
const EVENT_BYTES = 220;
/**
 * How long an organization whose events were held gets jobs of its own before it shares jobs again. Holding costs the
 * others about a second, so at most a thirtieth of their time.
 */
const APART_MS = 30_000;

/**
 * Sends all organizations' events in shared jobs, because hundreds of small requests cost little together. Events that
 * would delay others go in separate jobs within their organization's share: a request larger than a job, and for a
 * while the events of an organization that was held. Where the queue has several parts, organizations of the same part
 * share jobs. Rule: everywhere.md#bounded-cost.
 */
export function createCoalescer(deps: CoalescerDeps): Coalescer {
  const waitingOf = new Map<string, number>();
  let waiting = 0;
  const apart = new Map<string, StoreLane>();
  /** Until when an organization's events go in separate jobs. */
  const apartUntilMs = new Map<string, number>();
  const laneDeps = {
    producer: deps.producer,
    replies: deps.replies,
    processId: deps.processId,
    timeoutMs: deps.config.WRITE_TIMEOUT_SECONDS * 1000,
    left: (requests: readonly Waiting[]) => {
      for (const request of requests) count(request, -1);
    },
    held(request: Waiting) {
      const now = realNowMs();
      for (const [id, untilMs] of apartUntilMs) if (untilMs <= now) apartUntilMs.delete(id);
      apartUntilMs.set(request.batch.organization_id, now + APART_MS);
      enter(request);
    },
  };
  const shared = Array.from({ length: deps.config.EVENTS_QUEUES }, (_, part) => openStoreLane(laneDeps, { part }));
  const sharedOf = (id: OrganizationId): StoreLane => shared[partOf(id, shared.length)]!;

  function count({ batch }: Waiting, sign: 1 | -1): void {
    const events = sign * batch.events.length;
    const left = (waitingOf.get(batch.organization_id) ?? 0) + events;
    if (left === 0) waitingOf.delete(batch.organization_id);
    else waitingOf.set(batch.organization_id, left);
    waiting += events;
  }

  function enter(request: Waiting): void {
    count(request, 1);
    const id = request.batch.organization_id;
    const goesApart = request.bytes > MOST_BYTES || (apartUntilMs.get(id) ?? 0) > realNowMs();
    (goesApart ? laneOf(id) : sharedOf(id)).add(request);
  }

  function laneOf(id: OrganizationId): StoreLane {
    for (const [other, lane] of apart) if (lane.isIdle()) apart.delete(other);
    const lane = apart.get(id) ?? openStoreLane(laneDeps, { organizationId: id });
    apart.set(id, lane);
    return lane;
  }

  return {
    send: (batch, requestId) =>
      new Promise((resolve, reject) => enter({ batch, bytes: bytesOf(batch), requestId, resolve, reject })),
    isFull(organizationId) {
      const left = deps.config.EVENTS_MAX_WAITING - waiting;
      return left <= 0 || (waitingOf.get(organizationId) ?? 0) > left;
    },
    async stop() {
      // Shared jobs first, because held events of them go into separate ones.
      await Promise.all(shared.map((lane) => lane.stop()));
      await Promise.all([...apart.values()].map((lane) => lane.stop()));
    },
  };
}

const bytesOf = (batch: IncomingBatch): number =>
  batch.events.reduce(
    (sum, event) =>
      sum + EVENT_BYTES + event.properties.length + event.transaction_id.length + event.external_subscription_id.length,
    0,
  );
