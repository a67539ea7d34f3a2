import type { Operation } from '../../../platform/operation.ts';
import { listInboundEventsPage, retryInboundEvent, showInboundEvent } from './commands.ts';
import { InboundEventEnvelope, InboundEventList, InboundEventsQuery } from './schema.ts';

const common = { permission: 'payment_provider', tag: 'payment_providers' } as const;

/** Events of payment providers. Rule: other-routes.md#records. */
export const inboundEventOperations: Operation[] = [
  {
    ...common,
    name: 'findAllInboundEvents',
    method: 'get',
    path: '/inbound_events',
    summary: 'List events that payment providers sent',
    query: InboundEventsQuery,
    answer: InboundEventList,
    kind: 'read',
    run: listInboundEventsPage,
  },
  {
    ...common,
    name: 'findInboundEvent',
    method: 'get',
    path: '/inbound_events/:svc_id',
    summary: 'Retrieve an event that a payment provider sent',
    answer: InboundEventEnvelope,
    kind: 'read',
    run: showInboundEvent,
  },
  {
    ...common,
    name: 'retryInboundEvent',
    method: 'post',
    path: '/inbound_events/:svc_id/retry',
    summary: 'Handle an event of a payment provider again',
    answer: InboundEventEnvelope,
    kind: 'command',
    run: retryInboundEvent,
  },
];
