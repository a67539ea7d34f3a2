import { z } from 'zod';
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

const id = z.guid();
/** Text that a client chose or that names no row of ours. */
const text = z.string();
const instant = z.iso.datetime({ offset: true });

/** Open unmatched events that are matched again; without any field, all of the organization. */
const healSelection = {
  metric_ids: z.array(id).optional(),
  code: text.optional(),
  external_subscription_id: text.optional(),
};

/**
 * Every after-step: its pool and the schema of its payload. Handlers are in src/step-handlers.ts. A row outlives the
 * release that wrote it, so a new field is optional until the last old row is gone. A row that a worker cannot read
 * waits for another worker, and is a finding of the auditor.
 */
export const steps = {
  'audit-books': step({ run_id: id, checks: z.array(text).nullish() }),
  'build-shape': step({ shape_id: id }),
  'finish-event-batch': step({ batch_id: id }),
  'tell-missing-wallets': step({ event_ids: z.array(id) }),
  'heal-events': step({
    ...healSelection,
    /** The run that shows how far it is, when a client asked for it. */
    run_id: id.optional(),
    /** What the first page came to look for, and where the pages before have come to. */
    page: z
      .object({
        selection: z.object({
          codes: z.array(text).readonly().optional(),
          external_subscription_ids: z.array(text).readonly().optional(),
          either: z.boolean().optional(),
        }),
        after: id,
        total: z.int(),
        examined: z.int(),
        healed: z.int(),
      })
      .optional(),
  }),
  'recount-unmatched': step({ codes: z.array(text), after: id.nullable(), until: id }),
  'finish-customer-deletion': step({ customer_id: id }),
  'finalize-customer-drafts': step({ customer_id: id }),
  'finish-plan-deletion': step({ plan_id: id }),
  'cascade-plan-changes': step({ plan_id: id }),
  'finalize-plan-drafts': step({ plan_id: id }),
  'delete-metric-events': step({
    billable_metric_id: id,
    code: text,
    /** Events stored later belong to a new metric of the same code. */
    before_event_id: id,
  }),
  'retract-range': step({ correction_id: id }),
  'settle-correction': step({ correction_id: id }),
  'settle-late-events': step({
    external_subscription_id: text,
    window_from: instant,
    policy: z.enum(['ignore', 'next_invoice', 'debit_invoice', 'credit_note']),
    event_ids: z.array(id),
  }),
  'invoice-differences': step({ subscription_id: id }),
  'rematch-events': step({ correction_id: id, event_ids: z.array(id) }),
  /** One invoice with these lines, billed at an instant. */
  'bill-subscriptions': step({
    lines: z
      .array(
        z.object({
          subscription_id: id,
          reason: z.enum(['subscription_starting', 'subscription_terminating', 'in_advance_charge']),
          /** Of a line in advance: those with which a subscription starts. */
          fixed_charges: z.literal('opening').optional(),
        }),
      )
      .min(1),
    at: instant,
  }),
  'settle-gate': step({ subscription_id: id }),
  'bill-progressively': step({ subscription_id: id }),
  'snapshot-last-usage': step({ subscription_id: id, invoice_id: id }),
  /** The fixed charges of a subscription whose units changed at an instant. */
  'bill-fixed-charges': step({
    subscription_id: id,
    fixed_charge_ids: z.array(id),
    /** The records of these changes: what was recorded after them is billed by steps of its own. */
    record_ids: z.array(id).optional(),
    at: instant,
  }),
  /** Changes of a plan's fixed charges that its overrides have to follow. */
  'cascade-fixed-charges': step({
    plan_id: id,
    changes: z.array(
      z.object({
        id,
        former: z
          .object({ charge_model: text, units: text, properties: z.record(z.string(), z.unknown()).readonly() })
          .nullable(),
        is_immediate: z.boolean(),
      }),
    ),
    removed_ids: z.array(id),
    bills: z.boolean(),
  }),
  /** Stored events of one subscription, in the order of arrival. */
  'bill-in-advance': step({ subscription_id: id, event_ids: z.array(id) }),
  'redate-drafts': {
    queue,
    payload: z.union([
      z.object({ customer_id: id, after_id: id.optional() }),
      z.object({ billing_entity_id: id, after_id: id.optional() }),
    ]),
  },
  'finalize-draft': step({ invoice_id: id }),
  'run-invoices': step({
    run_id: id,
    /** The invoice that the steps before have come to. */
    after: id.optional(),
  }),
  'verify-invoice': step({ run_id: id }),
  'finalize-pending-invoice': step({ invoice_id: id }),
  'check-vat-number': step({ check_id: id }),
  /** The credits that a wallet was made with. */
  'book-first-credits': step({
    wallet_id: id,
    paid_credits: text.nullish(),
    granted_credits: text.nullish(),
    name: text.nullable(),
    priority: z.int().nullable(),
    metadata: z.array(z.object({ key: text, value: text })),
  }),
  'refresh-wallets': step({ customer_id: id }),
  'collect-invoice': step({
    invoice_id: id,
    /** The customer had the time to pay on a hosted page. */
    has_waited: z.boolean().optional(),
  }),
  'collect-payment-request': step({ payment_request_id: id }),
  'charge-sandbox-payment': step({ payment_id: id }),
  /** What a sandbox tells later of a payment. */
  'tell-sandbox-event': step({
    connection_id: id,
    payment_id: id,
    event: z.discriminatedUnion('tells', [
      z.object({ tells: z.literal('payment'), type: text, status: text, afterSeconds: z.number() }),
      z.object({ tells: z.literal('dispute'), type: text, isLost: z.boolean(), afterSeconds: z.number() }),
    ]),
  }),
  'mail-document': step({ kind: z.enum(['invoice', 'credit_note', 'payment_receipt']), subject_id: id }),
  'handle-provider-event': step({ inbound_event_id: id }),
  'refund-sandbox-note': step({ credit_note_id: id }),
  /** What a sandbox tells later of a refund. */
  'tell-sandbox-refund': step({ connection_id: id, provider_refund_id: text, status: text }),
} as const satisfies Record<string, StepSpec>;

export type StepName = keyof typeof steps;
export type StepPayload<Name extends StepName> = z.infer<(typeof steps)[Name]['payload']>;
