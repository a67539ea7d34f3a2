import type { ExternalSubscriptionId, OrganizationId } from '../../../platform/ids.ts';
import type { AiMark, Explain, IncomingBatch, IncomingEvent } from './incoming-event.ts';

/**
 * A batch as it travels in a job: lists instead of objects, because field names would be half of the text that the
 * ingress writes, Redis keeps and the worker reads.
 */
export type PackedBatch = [
  organizationId: OrganizationId,
  sandbox: 0 | 1,
  atomic: 0 | 1,
  receivedAt: string,
  userAgent: string | null,
  remoteAddress: string | null,
  events: PackedEvent[],
  explain?: Explain,
];

type PackedEvent = [
  id: string,
  transactionId: string,
  externalSubscriptionId: ExternalSubscriptionId,
  code: string,
  timestamp: string | null,
  properties: string,
  preciseTotalAmountCents: string | null,
  digest: string,
  ai?: AiMark,
];

export const packBatch = (batch: IncomingBatch): PackedBatch => [
  batch.organization_id,
  batch.sandbox ? 1 : 0,
  batch.atomic ? 1 : 0,
  batch.received_at,
  batch.user_agent,
  batch.remote_address,
  batch.events.map(packEvent),
  ...((batch.explain === undefined ? [] : [batch.explain]) as [Explain?]),
];

export const unpackBatch = (packed: PackedBatch): IncomingBatch => ({
  organization_id: packed[0],
  sandbox: packed[1] === 1,
  atomic: packed[2] === 1,
  received_at: packed[3],
  user_agent: packed[4],
  remote_address: packed[5],
  events: packed[6].map(unpackEvent),
  ...(packed[7] === undefined ? {} : { explain: packed[7] }),
});

const packEvent = (event: IncomingEvent): PackedEvent => [
  event.id,
  event.transaction_id,
  event.external_subscription_id,
  event.code,
  event.timestamp,
  event.properties,
  event.precise_total_amount_cents,
  event.digest,
  ...((event.ai === undefined ? [] : [event.ai]) as [AiMark?]),
];

const unpackEvent = (packed: PackedEvent): IncomingEvent => ({
  id: packed[0],
  transaction_id: packed[1],
  external_subscription_id: packed[2],
  code: packed[3],
  timestamp: packed[4],
  properties: packed[5],
  precise_total_amount_cents: packed[6],
  digest: packed[7],
  ...(packed[8] === undefined ? {} : { ai: packed[8] }),
});
