import type { Request } from 'express';
import { realNowExactMs } from '../../platform/clock/real-clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import type { Replies } from '../../platform/replies/replies.ts';
import type { IncomingBatch } from '../../resources/events/incoming.ts';
import { answerText, type EventsForm, readEvents } from '../../resources/events/requests.ts';
import { isoOfMs } from '../../resources/events/timestamps.ts';
import type { Identity } from '../authenticate.ts';
import { createCoalescer } from './coalescer.ts';

export interface EventsRequest {
  identity: Identity;
  requestId: string;
  request: Request;
  query: Record<string, unknown>;
  /** Parsed JSON; number literals that a double cannot hold are LosslessNumbers. */
  body: unknown;
}

/** What the edge calls for operations of kind `events`; the text is the serialised body. Refusals are thrown. */
export interface EventsLane {
  answer(
    operation: string,
    request: EventsRequest,
  ): Promise<{ status: number; text: string; headers?: Record<string, string> }>;
  /** Whether so much waits that a request is to be refused before its body is read: 503 with `Retry-After: 1`. */
  isFull(): boolean;
  /** Flushes what waits and answers it. */
  stop(): Promise<void>;
}

const FORMS: Readonly<Record<string, EventsForm>> = { createEvent: 'single', createBatchEvents: 'batch' };
/** Characters of a user agent that are worth keeping with every event. */
const USER_AGENT_MAX = 255;
const REPLAYED = { 'X-Svc-Replayed': 'true' };

/**
 * The busiest routes: checks the events of a request, sends them to the storing workers together with those of
 * concurrent requests, and answers when they are committed. Rules: performance-design 3, usage-and-charges A.4 to A.7.
 */
export function createEventsLane(deps: {
  producer: Producer;
  replies: Replies;
  config: Config;
  log: Log;
  processId: string;
}): EventsLane {
  const coalescer = createCoalescer(deps);
  return {
    async answer(operation, request) {
      const form = FORMS[operation]!;
      const batch = batchOf(request, readEvents(form, request.body, deps.config.EVENTS_BATCH_MAX_LENGTH));
      const verdicts = await coalescer.send(batch, request.requestId);
      const { text, isReplayed } = answerText(form, batch, verdicts);
      return { status: 200, text, ...(isReplayed ? { headers: REPLAYED } : {}) };
    },
    isFull: coalescer.isFull,
    stop: coalescer.stop,
  };
}

function batchOf({ identity, request }: EventsRequest, events: IncomingBatch['events']): IncomingBatch {
  return {
    organization_id: identity.organizationId,
    sandbox: identity.sandbox,
    atomic: true,
    received_at: isoOfMs(realNowExactMs()),
    user_agent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX) ?? null,
    remote_address: request.ip ?? null,
    events,
  };
}
