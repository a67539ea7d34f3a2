import type { Request } from 'express';
import type { Redis } from 'ioredis';
import { DoorFacts } from '../../areas/usage/ai-doors/door-facts.ts';
import {
  itemOf,
  readUsageItems,
  refuseLargeBodies,
  type SentItem,
  type UsageInput,
} from '../../areas/usage/ai-doors/read-usage.ts';
import type { Subject } from '../../areas/usage/ai-doors/subjects.ts';
import { answerText } from '../../areas/usage/events/answer-text.ts';
import { cloudEventsOf } from '../../areas/usage/events/cloud-event.ts';
import type { Explain, IncomingBatch, Verdict } from '../../areas/usage/events/incoming-event.ts';
import { asksToExplain, batchForm, type EventsInput, readEvents } from '../../areas/usage/events/read-request.ts';
import { isoOfMs } from '../../areas/usage/events/timestamps.ts';
import { realNowExactMs } from '../../platform/clock/real-clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Db } from '../../platform/db/connect.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Operation } from '../../platform/operation.ts';
import { Refusal, refuse } from '../../platform/refusal.ts';
import type { Pause } from '../../platform/turns/turns.ts';
import { headerName } from '../../platform/wire-prefix.ts';
import type { Identity } from '../authenticate.ts';
import type { DecisionsLane } from '../decisions-lane.ts';
import { storeLines } from './bulk.ts';
import { takeBulkPlace } from './bulk-places.ts';
import { BulkReport } from './bulk-report.ts';
import type { Coalescer } from './coalescer.ts';
import type { NotStoredEvents } from './not-stored.ts';
import { type RecordsDoor, readRecords, storeInChunks } from './records.ts';
import { UnmappedFields } from './unmapped-fields.ts';
import { ConnectionLost, unpackedBody } from './unpack.ts';
import { answerUsage, mayBeLarge, readUsage } from './usage.ts';

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
  /** Statements of the organization, within its share of the connections. */
  db(): Db;
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

/** A request whose body holds records of another program. */
export type RecordsRequest = Omit<EventsRequest, 'body' | 'isOfCloudEvents'>;

/** What the edge calls for operations of kind `events`; the text is the serialised body. Refusals are thrown. */
export interface EventsLane {
  answer(operation: Operation, request: EventsRequest): Promise<EventsAnswer>;
  bulk(request: BulkRequest): Promise<EventsAnswer>;
  records(door: RecordsDoor, request: RecordsRequest): Promise<EventsAnswer>;
  /** Input of the same operation as a command, for a request with an Idempotency-Key. */
  input(operation: Operation, request: EventsRequest): Promise<EventsInput | UsageInput>;
  /**
   * Usage of models in settlements of holds, each read as at its own door, and who sent it. Nothing of its content is
   * left.
   *
   * @throws Refusal 413 of a provider's body above 256 KiB
   */
  settlements(
    request: Pick<EventsRequest, 'identity' | 'request' | 'query' | 'pause' | 'db'>,
    usage: readonly unknown[],
  ): Promise<Pick<UsageInput, 'items' | 'sender'>>;
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
/** A refusal of what was sent, not of who sent it or when. */
const INVALID_STATUS = 422;
const NDJSON_TYPE = /^application\/x-ndjson\s*(?:;|$)/i;

/**
 * The busiest routes: checks the events of a request, sends them to the storing workers together with those of
 * concurrent requests, and answers when they are committed. Rules: storing-events.md, events.md#order-of-checks,
 * events.md#batch, events.md#deduplication, events.md#answer, event-verdicts.md.
 */
export function createEventsLane(deps: {
  redis: Redis;
  config: Config;
  log: Log;
  metrics: Metrics;
  decisions: Pick<DecisionsLane, 'settle'>;
  notStored: NotStoredEvents;
  coalescer: Coalescer;
}): EventsLane {
  const { config, coalescer } = deps;
  const explainHeader = headerName('X-Svc-Explain', config.WIRE_PREFIX).toLowerCase();

  const facts = new DoorFacts(() => performance.now());
  const unmapped = new UnmappedFields(deps.metrics.unmappedFields);

  const senderOf = (request: Omit<BulkRequest, 'translate'>, explain: Explain) => ({
    ...sender(request),
    ...(asksToExplain(request.request.headers[explainHeader], request.query) ? { explain } : {}),
  });

  async function eventsInput({ name }: Operation, request: EventsRequest): Promise<EventsInput> {
    const form = name === 'createEvent' ? 'single' : batchForm(request.query);
    const reader = request.isOfCloudEvents
      ? { reader: cloudEventsOf((await facts.settings(scopeOf(request))).cloudEventTypes) }
      : {};
    const sent = { limits: config, sender: senderOf(request, 'full'), pause: request.pause };
    const read = await readEvents(form, request.body, { ...sent, ...reader });
    if (form === 'tolerant') {
      await countMore(request, read.faults.length);
      const rejected = read.faults.filter((fault) => fault !== null).length;
      deps.notStored.add(request.identity.organizationId, { replayed: 0, rejected });
    }
    return request.isOfCloudEvents ? { ...read, isOfCloudEvents: true } : read;
  }

  async function usageInput({ name }: Operation, request: EventsRequest): Promise<UsageInput> {
    const form = name === 'createAiUsage' ? 'single' : batchForm(request.query);
    const input = await readUsage(form, request, { facts, limits: config, sender: senderOf(request, 'full') });
    unmapped.note(input.items);
    if (form === 'tolerant') await countMore(request, input.items.length);
    return input;
  }

  const send = (requestId: string) => async (batch: IncomingBatch) => {
    if (batch.events.length === 0) return [];
    const verdicts = await coalescer.send(batch, requestId);
    deps.notStored.addVerdicts(batch.organization_id, verdicts, batch.atomic);
    return verdicts;
  };

  /** Counts a request as refused whose events are refused together, or whose form is. */
  async function counted<Answer>({ identity, body }: EventsRequest, work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Refusal && error.status === INVALID_STATUS)
        deps.notStored.add(identity.organizationId, { replayed: 0, rejected: eventsIn(body) });
      throw error;
    }
  }

  return {
    input: (operation, request) =>
      operation.holdsUsage ? usageInput(operation, request) : eventsInput(operation, request),
    async answer(operation, request) {
      const { text, isReplayed } = await counted(request, async () =>
        operation.holdsUsage
          ? answerUsage(await usageInput(operation, request), {
              send: send(request.requestId),
              settle: (decision) => deps.decisions.settle({ ...callerOf(request), decision }),
              currency: (await facts.settings(scopeOf(request))).currency,
            })
          : answerEvents(await eventsInput(operation, request), send(request.requestId)),
      );
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
        async readUsage(items: readonly SentItem[]) {
          const scope = scopeOf(request);
          const find = (subjects: readonly Subject[]) => facts.subscriptions(scope, subjects);
          const read = await readUsageItems(items, { sender: sent, settings: await facts.settings(scope), find });
          unmapped.note(read);
          return read;
        },
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
        deps.notStored.add(sent.organization_id, report.counts());
        for (const [outcome, lines] of Object.entries(report.counts())) deps.metrics.bulkLines.inc({ outcome }, lines);
      }
    },
    async records(door, request) {
      const sent = senderOf(request, 'full');
      const scope = scopeOf(request);
      const kind = 'records' as const;
      const place = await takeBulkPlace(deps.redis, config.REDIS_PREFIX, sent.organization_id, { kind });
      try {
        const calls = await readRecords(door, request.request, sent.received_at, request.pause);
        await countMore(request, calls.items.length);
        const items = await readUsageItems(calls.items, {
          sender: sent,
          settings: await facts.settings(scope),
          pause: request.pause,
          find: (subjects) => facts.subscriptions(scope, subjects),
        });
        unmapped.note(items);
        const input: UsageInput = { form: 'tolerant', sender: sent, items, isOfRecords: true };
        const storing = {
          send: send(request.requestId),
          isFull: () => coalescer.isFull(sent.organization_id),
          keep: () => place.keep(),
          patienceMs: config.WRITE_TIMEOUT_SECONDS * 1000,
        };
        return { status: 200, text: calls.answer(input, await storeInChunks(storing, input)) };
      } catch (error) {
        request.request.resume();
        throw error instanceof ConnectionLost ? refuse.badRequest('the body ended early') : error;
      } finally {
        await place.leave();
      }
    },
    async settlements(request, usage) {
      const sent = sender(request);
      const scope = scopeOf(request);
      const items = usage.map(itemOf);
      if (mayBeLarge(request)) refuseLargeBodies(items);
      const read = await readUsageItems(items, {
        sender: sent,
        settings: await facts.settings(scope),
        pause: request.pause,
        find: (subjects) => facts.subscriptions(scope, subjects),
        holds: 'given',
      });
      unmapped.note(read);
      return { items: read, sender: sent };
    },
    isFull: coalescer.isFull,
    stop: coalescer.stop,
  };
}

/** How many events a body holds: those of a list, else one. */
function eventsIn(body: unknown): number {
  const events = (body as { events?: unknown } | null)?.events ?? body;
  return Array.isArray(events) ? events.length : 1;
}

/** Every further hundred events of a tolerant request count as one more request. */
async function countMore(request: Pick<EventsRequest, 'countMore'>, events: number): Promise<void> {
  for (let counted = EVENTS_A_REQUEST; counted < events; counted += EVENTS_A_REQUEST) await request.countMore();
}

async function answerEvents(
  input: EventsInput,
  send: (batch: IncomingBatch) => Verdict[] | Promise<Verdict[]>,
): Promise<{ text: string; isReplayed: boolean }> {
  return answerText(input, await send(input.batch));
}

const scopeOf = ({ db, identity }: Pick<EventsRequest, 'db' | 'identity'>) => ({
  db: db(),
  organizationId: identity.organizationId,
});

const callerOf = ({ identity, requestId }: EventsRequest) => ({
  organizationId: identity.organizationId,
  sandbox: identity.sandbox,
  requestId,
});

const sender = ({ identity, request }: Pick<EventsRequest, 'identity' | 'request'>) => ({
  organization_id: identity.organizationId,
  sandbox: identity.sandbox,
  received_at: isoOfMs(realNowExactMs()),
  user_agent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX) ?? null,
  remote_address: request.ip ?? null,
});
