import { z } from 'zod';
import type {
  BillingEntityId,
  CorrectionId,
  CreditNoteId,
  CustomerId,
  EventBatchId,
  EventId,
  FeeId,
  FixedChargeId,
  InboundEventId,
  IntegrationId,
  InvoiceId,
  MetricId,
  PaymentId,
  PaymentMethodId,
  PaymentProviderId,
  PaymentRequestId,
  PlanId,
  SubscriptionId,
  TaxDocumentId,
  UsageShapeId,
  WalletId,
} from './platform/ids.ts';
import { idOf } from './platform/schema/id.ts';
import { jobs } from './queues.ts';

/**
 * An after-step: work that a transaction still owes when it commits, kept as a row until it is done
 * (everywhere.md#postgres-is-the-truth).
 */
export interface StepSpec {
  /** The pool that runs it: the queue of the job `step.run`. */
  queue: (typeof jobs)['step.run']['queue'];
  /** Schema of the payload that `ctx.after` accepts, and that a worker requires of the stored row. JSON of ids. */
  payload: z.ZodType;
}

const { queue } = jobs['step.run'];
const step = <Payload extends z.ZodRawShape>(payload: Payload) => ({ queue, payload: z.object(payload) });

/** A text chosen by a client, or one that is not the id of a row. */
const text = z.string();
const instant = z.iso.datetime({ offset: true });

/** Open unmatched events that are matched again; without any field, all of the organization. */
const healSelection = {
  metric_ids: z.array(idOf<MetricId>()).optional(),
  code: text.optional(),
  external_subscription_id: text.optional(),
};

/**
 * Every after-step: its pool and the schema of its payload. Handlers are in src/step-handlers.ts. A row outlives the
 * release that wrote it, so a new field is optional until the last old row is gone. A row that a worker cannot read
 * waits for another worker, and is a finding of the auditor.
 */
export const steps = {
  'audit-books': step({ run_id: idOf(), checks: z.array(text).nullish() }),
  'build-shape': step({ shape_id: idOf<UsageShapeId>() }),
  'finish-event-batch': step({ batch_id: idOf<EventBatchId>() }),
  'tell-missing-wallets': step({ event_ids: z.array(idOf<EventId>()) }),
  'heal-prices': step({}),
  'rerate-calls': step({ run_id: idOf() }),
  'tell-unknown-models': step({
    provider: text,
    model: text,
    tier: text,
    missing_kinds: z.array(text),
    sample_transaction_id: text,
  }),
  'heal-events': step({
    ...healSelection,
    /** The run that shows the progress, if a client started it. */
    run_id: idOf().optional(),
    /** The selection of the first page, and the position reached by the pages before. */
    page: z
      .object({
        selection: z.object({
          codes: z.array(text).readonly().optional(),
          external_subscription_ids: z.array(text).readonly().optional(),
          either: z.boolean().optional(),
        }),
        after: idOf(),
        total: z.int(),
        examined: z.int(),
        healed: z.int(),
      })
      .optional(),
  }),
  'recount-unmatched': step({ codes: z.array(text), after: idOf().nullable(), until: idOf() }),
  'make-e-document': step({ kind: z.enum(['invoice', 'credit_note']), subject_id: text }),
  'finish-customer-deletion': step({ customer_id: idOf<CustomerId>() }),
  'finalize-customer-drafts': step({ customer_id: idOf<CustomerId>() }),
  'finish-plan-deletion': step({ plan_id: idOf<PlanId>() }),
  'cascade-plan-changes': step({ plan_id: idOf<PlanId>() }),
  'finalize-plan-drafts': step({ plan_id: idOf<PlanId>() }),
  'delete-metric-events': step({
    billable_metric_id: idOf<MetricId>(),
    code: text,
    /** Events stored later belong to a new metric of the same code. */
    before_event_id: idOf(),
    /** Where the page before ended, and whether any page marked an event. */
    after: z.object({ external_subscription_id: text, timestamp: text }).optional(),
    is_marked: z.boolean().optional(),
  }),
  'retract-range': step({ correction_id: idOf<CorrectionId>() }),
  'settle-correction': step({ correction_id: idOf<CorrectionId>() }),
  'settle-late-events': step({
    external_subscription_id: text,
    window_from: instant,
    policy: z.enum(['ignore', 'next_invoice', 'debit_invoice', 'credit_note']),
    event_ids: z.array(idOf<EventId>()),
    /** An invoice that was made anew, for which they are late. */
    invoice_id: idOf<InvoiceId>().optional(),
  }),
  /** How far events were looked at for good, and by this look. */
  'look-for-late-events': step({ seen_id: idOf(), after_id: idOf() }),
  /** How far events were looked at by the hourly look, or the invoice that was looked at. */
  'settle-gathered-late-events': {
    queue,
    payload: z.union([z.object({ seen_id: idOf() }), z.object({ invoice_id: idOf<InvoiceId>() })]),
  },
  'look-at-late-events': step({
    invoice_id: idOf<InvoiceId>(),
    seen: z.object({ external_subscription_id: text, code: text, timestamp: instant.nullable() }).optional(),
  }),
  'reopen-late-correction': step({
    correction_id: idOf<CorrectionId>(),
    invoice_id: idOf<InvoiceId>(),
    event_ids: z.array(idOf<EventId>()),
  }),
  'invoice-differences': step({ subscription_id: idOf<SubscriptionId>() }),
  'rematch-events': step({ correction_id: idOf<CorrectionId>(), event_ids: z.array(idOf<EventId>()) }),
  /** One invoice with these lines, billed at an instant. */
  'bill-subscriptions': step({
    lines: z
      .array(
        z.object({
          subscription_id: idOf<SubscriptionId>(),
          reason: z.enum(['subscription_starting', 'subscription_terminating', 'in_advance_charge']),
          /** For a line in advance: those with which a subscription starts. */
          fixed_charges: z.literal('opening').optional(),
        }),
      )
      .min(1),
    at: instant,
  }),
  'settle-gate': step({ subscription_id: idOf<SubscriptionId>() }),
  'bill-progressively': step({ subscription_id: idOf<SubscriptionId>() }),
  'snapshot-last-usage': step({ subscription_id: idOf<SubscriptionId>(), invoice_id: idOf<InvoiceId>() }),
  /** The fixed charges of a subscription whose units changed at an instant. */
  'bill-fixed-charges': step({
    subscription_id: idOf<SubscriptionId>(),
    fixed_charge_ids: z.array(idOf<FixedChargeId>()),
    /** The records of these changes; later records are billed by their own steps. */
    record_ids: z.array(idOf()).optional(),
    at: instant,
  }),
  /** Changes of a plan's fixed charges that its overrides have to follow. */
  'cascade-fixed-charges': step({
    plan_id: idOf<PlanId>(),
    changes: z.array(
      z.object({
        id: idOf(),
        former: z
          .object({ charge_model: text, units: text, properties: z.record(z.string(), z.unknown()).readonly() })
          .nullable(),
        is_immediate: z.boolean(),
      }),
    ),
    removed_ids: z.array(idOf()),
    bills: z.boolean(),
  }),
  /** Stored events of one subscription, in the order of arrival. */
  'bill-in-advance': step({ subscription_id: idOf<SubscriptionId>(), event_ids: z.array(idOf<EventId>()) }),
  'redate-drafts': {
    queue,
    payload: z.union([
      z.object({ customer_id: idOf<CustomerId>(), after_id: idOf().optional() }),
      z.object({ billing_entity_id: idOf<BillingEntityId>(), after_id: idOf().optional() }),
    ]),
  },
  'finalize-draft': step({ invoice_id: idOf<InvoiceId>() }),
  'run-invoices': step({
    run_id: idOf(),
    /** The invoice that the former steps have reached. */
    after: idOf().optional(),
  }),
  'verify-invoice': step({ run_id: idOf() }),
  'finalize-pending-invoice': step({ invoice_id: idOf<InvoiceId>() }),
  'check-vat-number': step({ check_id: idOf() }),
  'estimate-draft-taxes': step({ invoice_id: idOf<InvoiceId>() }),
  'tax-standalone-fees': step({ fee_ids: z.array(idOf<FeeId>()) }),
  'report-note-taxes': step({ credit_note_id: idOf<CreditNoteId>() }),
  'follow-fee-taxes': step({ fee_id: idOf<FeeId>() }),
  'take-invoice-taxes-back': step({ invoice_id: idOf<InvoiceId>() }),
  /** Questions of a customer, or to a connection, whose facts changed. */
  'ask-taxes-again': {
    queue,
    payload: z.union([
      z.object({ customer_id: idOf<CustomerId>(), after_id: idOf<TaxDocumentId>().nullish() }),
      z.object({
        integration_id: idOf<IntegrationId>(),
        after_id: idOf<TaxDocumentId>().nullish(),
        /** What the engine has refused for other reasons than our credentials is not asked again. */
        unanswered: z.literal(true).optional(),
      }),
    ]),
  },
  'ask-tax-double': step({ tax_document_id: idOf<TaxDocumentId>() }),
  /** The credits that a wallet was created with. */
  'book-first-credits': step({
    wallet_id: idOf<WalletId>(),
    paid_credits: text.nullish(),
    granted_credits: text.nullish(),
    name: text.nullable(),
    priority: z.int().nullable(),
    metadata: z.array(z.object({ key: text, value: text })),
  }),
  /** What a decision about budgets has changed; decimals and instants are texts. */
  'announce-budgets': step({
    notices: z.array(
      z.object({
        type: z.enum(['threshold_reached', 'blocked', 'unblocked', 'overrun']),
        window_id: idOf(),
        budget_id: idOf(),
        group: z.array(text.nullable()),
        from: text,
        to: text.nullable(),
        limit: text,
        spent: text,
        held: text,
        percent: z.int().optional(),
      }),
    ),
  }),
  'refresh-wallets': step({ customer_id: idOf<CustomerId>() }),
  'collect-invoice': step({
    invoice_id: idOf<InvoiceId>(),
    /** Whether the customer had time to pay on a hosted page. */
    has_waited: z.boolean().optional(),
    /** How often the invoice had been charged when that wait began. */
    attempts_before: z.int().optional(),
    /** It follows a transfer that asked for another amount, also where nothing else is charged by itself. */
    renews: z.boolean().optional(),
    /** A retry by hand that waits: how it is to be paid, and after how many attempts it was asked for. */
    retry: z
      .object({
        type: text.nullable(),
        id: idOf<PaymentMethodId>().nullable(),
        payment_attempts: z.int(),
      })
      .optional(),
  }),
  'collect-payment-request': step({ payment_request_id: idOf<PaymentRequestId>() }),
  'import-methods-of-connection': step({
    run_id: idOf(),
    payment_provider_id: idOf<PaymentProviderId>(),
    after: idOf<CustomerId>().nullable(),
  }),
  'charge-sandbox-payment': step({ payment_id: idOf<PaymentId>() }),
  /** A later report of a sandbox about a payment. */
  'tell-sandbox-event': step({
    connection_id: idOf(),
    payment_id: idOf<PaymentId>(),
    event: z.discriminatedUnion('tells', [
      z.object({ tells: z.literal('payment'), type: text, status: text, afterSeconds: z.number() }),
      z.object({ tells: z.literal('dispute'), type: text, isLost: z.boolean(), afterSeconds: z.number() }),
      z.object({ tells: z.literal('expiry'), type: text, status: text, afterSeconds: z.number() }),
    ]),
  }),
  'mail-document': step({ kind: z.enum(['invoice', 'credit_note', 'payment_receipt']), subject_id: idOf() }),
  /** A mail about something else that happened `at` an instant: once for each occasion. */
  'mail-notice': step({
    template: z.enum([
      'wallet_low',
      'top_up_failed',
      'trial_ending',
      'subscription_ending',
      'usage_alert',
      'endpoint_disabled',
      'key_created',
    ]),
    resource_id: idOf(),
    occasion: text,
    at: instant,
  }),
  'handle-provider-event': step({ inbound_event_id: idOf<InboundEventId>() }),
  'refund-sandbox-note': step({ credit_note_id: idOf<CreditNoteId>() }),
  /** A later report of a sandbox about a refund. */
  'tell-sandbox-refund': step({ connection_id: idOf(), provider_refund_id: text, status: text }),
} as const satisfies Record<string, StepSpec>;

export type StepName = keyof typeof steps;
export type StepPayload<Name extends StepName> = z.infer<(typeof steps)[Name]['payload']>;
