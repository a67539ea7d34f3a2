import type { Request } from 'express';
import type { Redis } from 'ioredis';
import { answerText } from '../../areas/usage/events/answer-text.ts';
import { cloudEvents } from '../../areas/usage/events/cloud-event.ts';
import type { Explain, IncomingBatch } from '../../areas/usage/events/incoming-event.ts';
import { asksToExplain, batchForm, type EventsInput, readEvents } from '../../areas/usage/events/read-request.ts';
import { isoOfMs } from '../../areas/usage/events/timestamps.ts';
import { realNowExactMs } from '../../platform/clock/real-clock.ts';
import type { Config } from '../../platform/config.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import { refuse } from '../../platform/refusal.ts';
import type { Replies } from '../../platform/replies/replies.ts';
import type { Pause } from '../../platform/turns/turns.ts';
import { headerName } from '../../platform/wire-prefix.ts';
import type { Identity } from '../authenticate.ts';
import { storeLines } from './bulk.ts';
import { takeBulkPlace } from './bulk-places.ts';
import { BulkReport } from './bulk-report.ts';
import { createCoalescer } from './coalescer.ts';
import { ConnectionLost, unpackedBody } from './unpack.ts';

export interface EventsRequest {
  identity: Identity;
  requestId: string;
  request: Request;
  query: Record<string, unknown>;
  /** Parsed JSON; number literals that a double cannot hold are KeptNumbers. */
  body: unknown;
  /** The body holds CloudEvents in their JSON form. */
  isOfCloudEvents: boolean;
  /** Counts one more request against the caller's rate limit. @throws Refusal 429 */
  countMore(): Promise<unknown>;
  /** Called between two events, so that organizations take turns. */
  pause: Pause;
}

/** A bulk request: its body is read by the lane, line by line. */
export interface BulkRequest extends Omit<EventsRequest, 'body' | 'isOfCloudEvents' | 'countMore' | 'pause'> {
  /** A parsed line with names under the prefix `svc_`. */
  translate(body: unknown): unknown;
}

interface EventsAnswer {
  status: number;
  text: string;
  headers?: Record<string, string>;
}

/** What the edge calls for operations of kind `events`; the text is the serialised body. Refusals are thrown. */
export interface EventsLane {
  answer(operation: string, request: EventsRequest): Promise<EventsAnswer>;
  bulk(request: BulkRequest): Promise<EventsAnswer>;
  /** Input of the same operation as a command, for a request with an Idempotency-Key. */
  input(operation: string, request: EventsRequest): Promise<EventsInput>;
  /** Whether a request must be refused before its body is read because too much waits: 503 with `Retry-After: 1`. */
  isFull(organizationId: OrganizationId): boolean;
  /** Sends what waits and answers it. */
  stop(): Promise<void>;
}

/** How many characters of a user agent are stored with every event. */
const USER_AGENT_MAX = 255;
const REPLAYED = { 'X-Svc-Replayed': 'true' };
/** Events of a tolerant batch that count as one request (bulk-events.md#tolerant-batch). */
const EVENTS_A_REQUEST = 100;
const NDJSON_TYPE = /^application\/x-ndjson\s*(?:;|$)/i;

/**
 * The busiest routes: checks the events of a request, sends them to the storing workers together with those of
 * concurrent requests, and answers when they are committed. Rules: storing-events.md, events.md#order-of-checks,
 * events.md#batch, events.md#deduplication, events.md#answer, event-verdicts.md.
 */
export function createEventsLane(deps: {
  producer: Producer;
  replies: Replies;
  redis: Redis;
  config: Config;
  log: Log;
  metrics: Metrics;
  processId: string;
}): EventsLane {
  const { config } = deps;
  const coalescer = createCoalescer(deps);
  const explainHeader = headerName('X-Svc-Explain', config.WIRE_PREFIX).toLowerCase();

  const senderOf = (request: Omit<BulkRequest, 'translate'>, explain: Explain) => ({
    ...sender(request),
    ...(asksToExplain(request.request.headers[explainHeader], request.query) ? { explain } : {}),
  });

  async function input(operation: string, request: EventsRequest): Promise<EventsInput> {
    const form = operation === 'createEvent' ? 'single' : batchForm(request.query);
    const read = await readEvents(form, request.body, {
      limits: config,
      sender: senderOf(request, 'full'),
      pause: request.pause,
      ...(request.isOfCloudEvents ? { reader: cloudEvents } : {}),
    });
    for (
      let counted = EVENTS_A_REQUEST;
      form === 'tolerant' && counted < read.faults.length;
      counted += EVENTS_A_REQUEST
    )
      await request.countMore();
    return request.isOfCloudEvents ? { ...read, isOfCloudEvents: true } : read;
  }

  return {
    input,
    async answer(operation, request) {
      const read = await input(operation, request);
      const { batch } = read;
      const verdicts = batch.events.length === 0 ? [] : await coalescer.send(batch, request.requestId);
      const { text, isReplayed } = answerText(read, verdicts);
      return { status: 200, text, ...(isReplayed ? { headers: REPLAYED } : {}) };
    },
    async bulk(request) {
      if (!NDJSON_TYPE.test(request.request.headers['content-type'] ?? '')) throw refuse.unsupportedMediaType();
      const bytes = unpackedBody(request.request, config.BULK_MAX_BYTES);
      const sent = senderOf(request, 'reasons');
      const report = new BulkReport(sent.explain !== undefined);
      const place = await takeBulkPlace(deps.redis, config.REDIS_PREFIX, sent.organization_id);
      const storing = {
        async send(batch: IncomingBatch) {
          await place.keep();
          return coalescer.send(batch, request.requestId);
        },
        isFull: () => coalescer.isFull(sent.organization_id),
        patienceMs: config.WRITE_TIMEOUT_SECONDS * 1000,
        translate: request.translate,
        mostLines: config.BULK_MAX_LINES,
        mostProperties: config.BULK_MAX_BYTES,
      };
      try {
        await storeLines(storing, bytes, sent, report);
        return { status: 200, text: JSON.stringify({ bulk: report.view() }) };
      } catch (error) {
        // The rest of the body is skipped, because the connection may carry another request.
        request.request.resume();
        if (!(error instanceof ConnectionLost)) throw error;
        deps.log.info({ organization_id: sent.organization_id, ...report.counts() }, 'bulk request cut off');
        throw refuse.badRequest('the body ended early');
      } finally {
        await place.leave();
        for (const [outcome, lines] of Object.entries(report.counts())) deps.metrics.bulkLines.inc({ outcome }, lines);
      }
    },
    isFull: coalescer.isFull,
    stop: coalescer.stop,
  };
}

const sender = ({ identity, request }: Pick<EventsRequest, 'identity' | 'request'>) => ({
  organization_id: identity.organizationId,
  sandbox: identity.sandbox,
  received_at: isoOfMs(realNowExactMs()),
  user_agent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX) ?? null,
  remote_address: request.ip ?? null,
});
