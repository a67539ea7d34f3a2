import type { Operation } from '../../../platform/operation.ts';
import { showFeed, showWebhookEvent } from './reads.ts';
import { Feed, FeedQuery, WebhookEventEnvelope } from './schema.ts';

const common = { permission: 'webhook_event', tag: 'webhook_events', method: 'get', kind: 'read' } as const;

export const webhookEventOperations: Operation[] = [
  {
    ...common,
    name: 'readWebhookEvents',
    path: '/webhook_events',
    summary: 'Read the feed of events',
    description:
      'Every event stands in it once and in order, whether an endpoint listened or not. Go on behind `meta.next_after`.',
    query: FeedQuery,
    answer: Feed,
    run: showFeed,
  },
  {
    ...common,
    name: 'findWebhookEvent',
    path: '/webhook_events/:svc_id',
    summary: 'Retrieve an event with its deliveries',
    answer: WebhookEventEnvelope,
    run: showWebhookEvent,
  },
];
