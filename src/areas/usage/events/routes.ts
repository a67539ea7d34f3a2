import type { Operation } from '../../../platform/operation.ts';
import { storeInCommand } from './commands.ts';
import { EnrichedEventList, showEnrichedEvents } from './enriched.ts';
import { readEventsAgain, showEvent, showEvents } from './reads.ts';
import {
  BulkEnvelope,
  CloudEventBody,
  CloudEventsBody,
  CreatedEvent,
  CreatedEvents,
  CreateEventQuery,
  CreateEventsQuery,
  EventBody,
  EventEnvelope,
  EventList,
  EventListQuery,
  EventsBody,
} from './schema.ts';

const shared = { permission: 'event', tag: 'events' } as const;
/** The largest body of a batch: it holds a hundred events, each of which may be large. */
const BATCH_LIMIT_BYTES = 5 * 1024 * 1024;
const lane = { ...shared, method: 'post', kind: 'events', category: 'events' } as const;

/** Bulk is stored in chunks, by the events lane only (idempotency.md). */
const neverACommand = (): Promise<never> => Promise.reject(new Error('bulk events are stored by the events lane'));

export const eventOperations: Operation[] = [
  {
    ...lane,
    name: 'createEvent',
    path: '/events',
    summary: 'Send a usage event',
    description:
      'An event answered 200 is stored: the same `transaction_id` of the same subscription counts once however often it is sent, and another content under it is refused with 422. What it costs shows in current usage with the next read.',
    query: CreateEventQuery,
    body: EventBody,
    cloudEvents: { isList: false, body: CloudEventBody },
    answer: CreatedEvent,
    run: storeInCommand,
  },
  {
    ...lane,
    name: 'createBatchEvents',
    path: '/events/batch',
    summary: 'Send up to 100 usage events, all or nothing, or each for itself with mode=tolerant',
    description:
      'The way to high rates. With `mode=tolerant` the answer says of each event whether it is stored, and why not.',
    bodyLimitBytes: BATCH_LIMIT_BYTES,
    query: CreateEventsQuery,
    body: EventsBody,
    cloudEvents: { isList: true, body: CloudEventsBody },
    answer: CreatedEvents,
    run: storeInCommand,
    reread: { records: 'events', read: readEventsAgain },
  },
  {
    ...lane,
    name: 'createBulkEvents',
    path: '/events/bulk',
    summary: 'Send up to 10 000 usage events, one JSON object a line',
    description:
      'The good lines are stored, the bad ones are named with their numbers. Sending the whole again after a break is safe.',
    category: 'events_bulk',
    readsOwnBody: {
      contentType: 'application/x-ndjson',
      description: 'One event a line, bare or as `{"event": {…}}`; with `Content-Encoding: gzip` packed',
    },
    ignoresIdempotencyKey: true,
    query: CreateEventQuery,
    answer: BulkEnvelope,
    run: neverACommand,
  },
  {
    ...shared,
    name: 'findAllEvents',
    method: 'get',
    path: '/events',
    summary: 'List usage events',
    kind: 'read',
    query: EventListQuery,
    answer: EventList,
    run: showEvents,
  },
  {
    ...shared,
    name: 'findEvent',
    method: 'get',
    path: '/events/:transaction_id',
    summary: 'Retrieve a usage event',
    kind: 'read',
    answer: EventEnvelope,
    run: showEvent,
  },
  {
    ...shared,
    name: 'findAllEnrichedEvents',
    method: 'get',
    path: '/events_enriched',
    summary: 'List usage events with the values that their metrics count',
    kind: 'read',
    query: EventListQuery,
    answer: EnrichedEventList,
    run: showEnrichedEvents,
  },
];
