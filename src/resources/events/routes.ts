import type { Operation } from '../../platform/operation.ts';
import { createEvent, createEvents } from './commands.ts';
import { showEvent, showEvents } from './reads.ts';
import { EventBody, EventEnvelope, EventList, EventListQuery, EventsBody, EventsEnvelope } from './schema.ts';

const shared = { permission: 'event', tag: 'events' } as const;
const lane = { ...shared, method: 'post', kind: 'events', category: 'events' } as const;

export const eventOperations: Operation[] = [
  {
    ...lane,
    name: 'createEvent',
    path: '/events',
    summary: 'Send a usage event',
    bodyLimitBytes: 1024 * 1024,
    body: EventBody,
    answer: EventEnvelope,
    run: createEvent,
  },
  {
    ...lane,
    name: 'createBatchEvents',
    path: '/events/batch',
    summary: 'Send up to 100 usage events, all or nothing',
    body: EventsBody,
    answer: EventsEnvelope,
    run: createEvents,
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
];
