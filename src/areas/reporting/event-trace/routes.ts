import type { Operation } from '../../../platform/operation.ts';
import { showEventTrace } from './reads.ts';
import { EventTrace, EventTraceQuery } from './schema.ts';

export const eventTraceOperations: Operation[] = [
  {
    name: 'findEventTrace',
    method: 'get',
    path: '/events/:transaction_id/trace',
    permission: 'event',
    tag: 'events',
    summary: 'What an event did: how it counts, what billed it, and what followed',
    query: EventTraceQuery,
    answer: EventTrace,
    kind: 'read',
    run: showEventTrace,
  },
];
