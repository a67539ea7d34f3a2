import { NAMED_ONLY_WEBHOOK_TYPES, SECOND_WEBHOOK_NAMES } from '../../../platform/records/write-records.ts';

/** The 76 types of the contract; `invoice.add_on_added` is never sent (webhooks.md#event-types). */
export const WEBHOOK_TYPES = [
  'alert.triggered',
  'billable_metric.created',
  'billable_metric.deleted',
  'billable_metric.updated',
  'credit_note.created',
  'credit_note.generated',
  'credit_note.refund_failure',
  'customer.accounting_provider_created',
  'customer.accounting_provider_error',
  'customer.checkout_url_generated',
  'customer.created',
  'customer.crm_provider_created',
  'customer.crm_provider_error',
  'customer.payment_provider_created',
  'customer.payment_provider_error',
  'customer.tax_provider_error',
  'customer.updated',
  'customer.vies_check',
  'dunning_campaign.finished',
  'event.error',
  'events.errors',
  'feature.created',
  'feature.deleted',
  'feature.updated',
  'fee.created',
  'fee.tax_provider_error',
  'integration.provider_error',
  'invoice.add_on_added',
  'invoice.created',
  'invoice.deleted',
  'invoice.drafted',
  'invoice.generated',
  'invoice.one_off_created',
  'invoice.paid_credit_added',
  'invoice.payment_dispute_lost',
  'invoice.payment_failure',
  'invoice.payment_overdue',
  'invoice.payment_status_updated',
  'invoice.ready_to_finalize',
  'invoice.resynced',
  'invoice.voided',
  'order.created',
  'order.executed',
  'order_form.created',
  'order_form.expired',
  'order_form.signed',
  'order_form.voided',
  'payment.requires_action',
  'payment.succeeded',
  'payment_provider.error',
  'payment_receipt.created',
  'payment_receipt.generated',
  'payment_request.created',
  'payment_request.payment_failure',
  'payment_request.payment_status_updated',
  'plan.created',
  'plan.deleted',
  'plan.updated',
  'quote.approved',
  'quote.created',
  'quote.voided',
  'subscription.canceled',
  'subscription.incomplete',
  'subscription.started',
  'subscription.terminated',
  'subscription.termination_alert',
  'subscription.trial_ended',
  'subscription.updated',
  'subscription.usage_threshold_reached',
  'wallet.created',
  'wallet.depleted_ongoing_balance',
  'wallet.terminated',
  'wallet.updated',
  'wallet_transaction.created',
  'wallet_transaction.payment_failure',
  'wallet_transaction.updated',
] as const;

const SELECTABLE: ReadonlySet<string> = new Set([
  ...WEBHOOK_TYPES,
  ...Object.values(SECOND_WEBHOOK_NAMES),
  ...NAMED_ONLY_WEBHOOK_TYPES,
]);

export type ChosenTypes = { types: string[] | null } | { code: string };

/**
 * The types an endpoint listens to, from what a client sent: trimmed, lower-cased, without blanks and repetitions. Null
 * and exactly `["*"]` mean all types of the contract, `[]` means none. Rule: webhooks.md#endpoints.
 *
 * @returns the types, or the code of the refusal
 */
export function chosenTypes(value: unknown): ChosenTypes {
  if (value === null) return { types: null };
  if (!Array.isArray(value)) return { code: 'must_be_array' };
  const names = value.map((each) => (typeof each === 'string' ? each.trim().toLowerCase() : each));
  if (names.length === 1 && names[0] === '*') return { types: null };
  const chosen = [...new Set(names)].filter((name) => name !== '' && name !== null);
  const unknown = chosen.filter((name) => !SELECTABLE.has(name));
  if (unknown.length === 0) return { types: chosen };
  const shown = unknown.slice(0, SHOWN_AT_MOST).map((name) => JSON.stringify(name));
  return { code: `contains invalid types: [${shown.join(', ')}]` };
}

const SHOWN_AT_MOST = 100;
