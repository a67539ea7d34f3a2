import { z } from 'zod';
import type {
  ApiKeyId,
  AuthorizationId,
  CreditNoteId,
  CustomerId,
  DocumentId,
  EventBatchId,
  ExternalSubscriptionId,
  IntegrationId,
  OrganizationId,
  PaymentId,
  PaymentProviderId,
  ReconciliationId,
  TaxDocumentId,
  TransmissionId,
  UsageShapeId,
  WebhookDeliveryId,
  WebhookEndpointId,
} from './platform/ids.ts';

/**
 * The table of queues. With a waiting caller the job of a killed worker must run again within about 5 s, and all tries
 * must be within the write timeout (storing-events.md#jobs-and-replies).
 */
export interface QueueSpec {
  purpose: string;
  attempts: number;
  backoff: { type: 'fixed' | 'exponential'; delay: number };
  waited: boolean;
  /**
   * Largest share of the slots that one organization holds, even if all are free; for queues whose jobs wait for
   * strangers' servers, or work the processor of all.
   */
  mostOfOrganization?: number;
  /**
   * How many jobs of one organization wait for a slot within a process before further ones are parked; for queues of
   * short jobs. Without it all are parked.
   */
  heldOfOrganization?: number;
}

const WAITED = { attempts: 5, backoff: { type: 'fixed', delay: 1500 }, waited: true } as const;
const RETRIED = { attempts: 8, backoff: { type: 'exponential', delay: 1000 }, waited: false } as const;

export const queues = {
  // queues-and-workers.md#waiting-for-a-slot
  writes: { purpose: 'commands of the API, one transaction each', ...WAITED, heldOfOrganization: 32 },
  'credit-notes': { purpose: 'commands on credit notes', ...WAITED },
  asking: {
    purpose: 'commands that ask a provider before their transaction',
    ...WAITED,
    // everywhere.md#asking-first
    mostOfOrganization: 0.25,
  },
  previews: {
    purpose: 'reads that are too dear for the ingress: previews of invoices',
    ...WAITED,
    attempts: 2,
    // previews.md: a flood of previews works the processor and the Postgres of all.
    mostOfOrganization: 0.25,
  },
  events: { purpose: 'batches of usage events to store', ...WAITED },
  decisions: {
    purpose: 'decisions about budgets',
    ...WAITED,
    // budgets.md#decisions: a flood of one organization leaves half of the pool to the others.
    mostOfOrganization: 0.5,
    heldOfOrganization: 32,
  },
  aggregation: { purpose: 'steps after stored events, rollups: build, repair, audit', ...RETRIED },
  billing: { purpose: 'periodic billing and steps after commands', ...RETRIED, heldOfOrganization: 32 },
  payments: { purpose: 'calls to payment providers and tax engines', ...RETRIED, attempts: 7 },
  clocks: { purpose: 'advances of test clocks', ...RETRIED },
  webhooks: {
    purpose:
      'deliveries to webhook endpoints, mails, electronic documents to access points, questions to the VAT register',
    ...RETRIED,
    // webhooks.md#sending, rule 5
    mostOfOrganization: 0.25,
  },
  documents: {
    purpose: 'drawing of invoices, credit notes and receipts',
    ...RETRIED,
    // e-documents.md#when: a billing run of one organization leaves half of the pool to the others.
    mostOfOrganization: 0.5,
  },
  analytics: { purpose: 'sums that reports are read from', ...RETRIED },
  periodic: { purpose: 'ticks of the schedule', ...RETRIED, attempts: 3 },
  audit: { purpose: 'API log rows of requests that the ingress refused', ...RETRIED },
} satisfies Record<string, QueueSpec>;

export type QueueName = keyof typeof queues;

/** An id in a payload; who added the job has it from a row, so it is not read closely. */
const id = <Id extends string = string>() => z.string() as unknown as z.ZodType<Id, Id>;

/** Reply address of a request whose caller waits: its ingress process and the number of the request there. */
const Caller = { from: z.string(), cid: z.string(), at: z.number() };

/**
 * Owner of a job, by which a queue's slots are shared. Any key of the customer is possible if all jobs of a queue use
 * the same; without one, `customer_id` of the payload or of its `item` is used.
 */
const Owner = { organization_id: id<OrganizationId>(), customer_key: z.string().optional() };

/** A command of the API. */
const Command = z.object({
  v: z.literal(1),
  ...Caller,
  ...Owner,
  operation: z.string(),
  sandbox: z.boolean(),
  /** Null for a command that a person gives on a page of ours, without a key. */
  api_key_id: id<ApiKeyId>().nullable(),
  /** Given by a person in the console, with the rights of that key. */
  source: z.literal('front').optional(),
  /** Given by a customer on its own page. */
  portal: z.literal(true).optional(),
  request_id: z.string(),
  input: z.unknown(),
  /** Replaces `input` and `request.parameters` if they hold secrets: the JSON of both, sealed. */
  sealed: z.string().optional(),
  /** Id of the record that a command makes which asks a provider first. */
  record_id: z.string().optional(),
  idempotency: z.object({ scope_hash: z.string(), fingerprint: z.string() }).nullable(),
  request: z.object({
    method: z.string(),
    origin: z.string(),
    path: z.string(),
    client: z.string().nullable(),
    parameters: z.string().nullable(),
  }),
});

/** How many commands one gathered job holds at most, so that its transaction stays short. */
const MOST_GATHERED = 100;

/**
 * Every job: its queue and the schema of its payload. New fields are optional until the last old job is gone. Jobs
 * without an owner hold work of several organizations, limited by their producer.
 */
export const jobs = {
  'command.run': { queue: 'writes', payload: Command },
  /** Commands of one organization that wait for the same record. */
  'command.run-gathered': {
    queue: 'writes',
    payload: z.object({
      v: z.literal(1),
      ...Caller,
      ...Owner,
      commands: z.array(Command).min(1).max(MOST_GATHERED),
    }),
  },
  /** A read: it runs while its caller waits, and only the caller repeats it. */
  'preview.run': { queue: 'previews', payload: Command },
  /** Commands that ask a provider first wait for a stranger's server, and hold up no other. */
  'asking.command': { queue: 'asking', payload: Command },
  /** Commands on credit notes have a pool of their own. */
  'credit-note.command': { queue: 'credit-notes', payload: Command },
  'events.store': {
    queue: 'events',
    // The ingress has checked the items; parsing thousands again would cost more than storing them. With an
    // organization the job holds its events only, separated from those of others.
    payload: z.object({
      v: z.literal(1),
      ...Caller,
      organization_id: id<OrganizationId>().optional(),
      // The ingress can show a call by what rating wrote; an older one gets the whole event.
      shows_ratings: z.literal(true).optional(),
      batches: z.array(z.unknown()),
    }),
  },
  'decisions.decide': {
    queue: 'decisions',
    // The ingress has checked them.
    payload: z.object({ v: z.literal(1), ...Caller, ...Owner, sandbox: z.boolean(), decisions: z.array(z.unknown()) }),
  },
  // Without an organization it holds events of several, and waits for none of them.
  'events.finish-batch': {
    queue: 'aggregation',
    payload: z.object({ organization_id: id<OrganizationId>().optional(), batch_ids: z.array(id<EventBatchId>()) }),
  },
  'rollup.build-shape': {
    queue: 'aggregation',
    payload: z.object({ ...Owner, shape_id: id<UsageShapeId>() }),
  },
  'rollup.guard': {
    queue: 'aggregation',
    payload: z.object({
      ...Owner,
      shape_id: id<UsageShapeId>(),
      external_subscription_id: id<ExternalSubscriptionId>(),
    }),
  },
  'step.run': { queue: 'billing', payload: z.object({ ...Owner, step_id: z.string() }) },
  'periodic.work': {
    queue: 'billing',
    payload: z.object({ ...Owner, job: z.string(), at: z.string(), item: z.unknown() }),
  },
  'payment.charge': {
    queue: 'payments',
    payload: z.object({ ...Owner, payment_id: id<PaymentId>() }),
  },
  'payment.look-after': {
    queue: 'payments',
    payload: z.object({ ...Owner, payment_id: id<PaymentId>() }),
  },
  'payment.cancel': {
    queue: 'payments',
    payload: z.object({ ...Owner, payment_id: id<PaymentId>() }),
  },
  'payment.refund': {
    queue: 'payments',
    payload: z.object({ ...Owner, credit_note_id: id<CreditNoteId>() }),
  },
  'payment.look-after-refund': {
    queue: 'payments',
    payload: z.object({ ...Owner, credit_note_id: id<CreditNoteId>() }),
  },
  'payment.release-authorization': {
    queue: 'payments',
    payload: z.object({ ...Owner, authorization_id: id<AuthorizationId>() }),
  },
  'payment.connect': {
    queue: 'payments',
    payload: z.object({ ...Owner, payment_provider_id: id<PaymentProviderId>() }),
  },
  'integration.check': {
    queue: 'payments',
    payload: z.object({ ...Owner, integration_id: id<IntegrationId>() }),
  },
  'tax.ask': {
    queue: 'payments',
    payload: z.object({ ...Owner, tax_document_id: id<TaxDocumentId>() }),
  },
  'payment.create-customer': {
    queue: 'payments',
    payload: z.object({ ...Owner, customer_id: id<CustomerId>() }),
  },
  'payment.import-methods': {
    queue: 'payments',
    payload: z.object({ ...Owner, customer_id: id<CustomerId>() }),
  },
  'payment.reconcile': {
    queue: 'payments',
    payload: z.object({ ...Owner, provider_reconciliation_id: id<ReconciliationId>() }),
  },
  'payment.open-page': {
    queue: 'payments',
    payload: z.object({ ...Owner, page_id: z.string() }),
  },
  'clock.advance': { queue: 'clocks', payload: z.object(Owner) },
  'webhook.deliver': {
    queue: 'webhooks',
    payload: z.object({
      ...Owner,
      webhook_endpoint_id: id<WebhookEndpointId>(),
      delivery_ids: z.array(id<WebhookDeliveryId>()).max(10),
      /** The single delivery that is tried while the circuit of its endpoint is open. */
      probe: z.boolean().optional(),
    }),
  },
  'webhook.walk': {
    queue: 'webhooks',
    payload: z.object({
      organization_id: id<OrganizationId>(),
      webhook_endpoint_id: id<WebhookEndpointId>(),
      overdue_ms: z.number(),
    }),
  },
  'webhook.replay': {
    queue: 'webhooks',
    payload: z.object({ ...Owner, webhook_endpoint_id: id<WebhookEndpointId>(), replay_id: z.string() }),
  },
  'document.render': {
    queue: 'documents',
    payload: z.object({ ...Owner, document_id: id<DocumentId>() }),
  },
  'e-document.render': {
    queue: 'documents',
    payload: z.object({ ...Owner, e_document_id: id<DocumentId>() }),
  },
  'e-document.send': {
    queue: 'webhooks',
    payload: z.object({ ...Owner, transmission_id: id<TransmissionId>() }),
  },
  'mail.send': { queue: 'webhooks', payload: z.object({ ...Owner, mail_id: z.string() }) },
  'vat.check': { queue: 'webhooks', payload: z.object({ ...Owner, check_id: z.string() }) },
  'analytics.roll-up': { queue: 'analytics', payload: z.object(Owner) },
  'periodic.tick': { queue: 'periodic', payload: z.object({ job: z.string(), at: z.string() }) },
  'api-log.write': { queue: 'audit', payload: z.object({ rows: z.array(z.unknown()) }) },
} as const satisfies Record<string, { queue: QueueName; payload: z.ZodType }>;

export type JobName = keyof typeof jobs;
export type JobPayload<Name extends JobName> = z.infer<(typeof jobs)[Name]['payload']>;
/** Jobs that run commands of the API. */
export type CommandJobName = 'command.run' | 'asking.command' | 'credit-note.command';
