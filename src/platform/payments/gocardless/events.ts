import type { NamedEvent } from '../descriptor.ts';
import type { ProviderError, ProviderEvent } from '../port.ts';
import { providerId } from '../provider-id.ts';

// biome-ignore lint/suspicious/noExplicitAny: a stored event is read defensively, field by field
type Loose = any;

const IGNORED: ProviderEvent = { kind: 'ignored' };

/** How many characters of the reason of a failed payment are kept: more than any real one has. */
const MESSAGE_MAX = 1000;

/** The events of a body, at most 250: one row each. */
export const gocardlessEventsIn = ({ events }: Record<string, unknown>): NamedEvent[] =>
  (Array.isArray(events) ? (events as Loose[]) : []).flatMap((event) =>
    typeof event?.id === 'string' && event.id !== ''
      ? [{ id: event.id, type: `${event.resource_type}.${event.action}`, payload: event }]
      : [],
  );

/** What became of a payment, by the action of an event; the actions that are not here move no money of ours. */
const PAYMENT_STATUS: Readonly<Record<string, string>> = {
  created: 'pending_submission',
  customer_approval_granted: 'pending_submission',
  customer_approval_denied: 'customer_approval_denied',
  submitted: 'submitted',
  confirmed: 'confirmed',
  paid_out: 'paid_out',
  cancelled: 'cancelled',
  failed: 'failed',
  charged_back: 'charged_back',
  chargeback_cancelled: 'paid_out',
  resubmission_requested: 'pending_submission',
};

/** Actions that may take back money that had come in. */
/** States of a refund whose money was paid out and came back. */
const COMES_BACK = new Set(['bounced', 'funds_returned']);
const TAKES_BACK = new Set(['failed', 'charged_back']);

const REFUND_STATUS: Readonly<Record<string, string>> = {
  created: 'created',
  refund_settled: 'refund_settled',
  paid: 'paid',
  failed: 'failed',
  bounced: 'bounced',
  funds_returned: 'funds_returned',
};

/** Actions of a mandate after which it may be charged, and those after which it may not. */
const MANDATE_BEGINS = new Set(['created', 'submitted', 'active', 'reinstated', 'transferred']);
const MANDATE_ENDS = new Set(['cancelled', 'expired', 'failed', 'blocked', 'consumed']);

/**
 * A stored event of GoCardless in our terms. Events name their record and what happened to it, without its fields.
 * Rule: provider-connections.md#gocardless.
 */
export function parseGocardlessEvent(event: Record<string, unknown>): ProviderEvent {
  const links: Loose = event.links ?? {};
  const action = String(event.action);
  switch (event.resource_type) {
    case 'payments':
      return paymentEvent(event, providerId(links.payment), action);
    case 'refunds': {
      const [id, status] = [providerId(links.refund), REFUND_STATUS[action]];
      if (!id || !status) return IGNORED;
      return {
        kind: 'refund',
        providerRefundId: id,
        status,
        metadata: metadataOf(event),
        ...faultOf(event, status),
        ...(COMES_BACK.has(status) ? { isReturn: true } : {}),
      };
    }
    case 'mandates':
      return mandateEvent(event, links, action);
    case 'billing_requests':
      if (action !== 'fulfilled' || !providerId(links.mandate_request_mandate)) return IGNORED;
      return { kind: 'methods_changed', ...customerOf(event, links) };
    default:
      return IGNORED;
  }
}

function paymentEvent(event: Record<string, unknown>, id: string | undefined, action: string): ProviderEvent {
  const status = PAYMENT_STATUS[action];
  if (!id || !status) return IGNORED;
  const details: Loose = event.details;
  const common = { providerPaymentId: id, ...atOf(event), ...faultOf(event, action) };
  // It collects again by itself: charged by us as well, the customer would pay twice.
  const isTriedAgain = action === 'failed' && details?.will_attempt_retry === true;
  if (TAKES_BACK.has(action) && !isTriedAgain) return { kind: 'payment_reversed', ...common, status };
  return {
    kind: 'payment',
    ...common,
    status: isTriedAgain ? 'pending_submission' : status,
    metadata: metadataOf(event),
  };
}

function mandateEvent(event: Record<string, unknown>, links: Loose, action: string): ProviderEvent {
  const id = providerId(links.mandate);
  if (!id) return IGNORED;
  if (MANDATE_ENDS.has(action)) return { kind: 'mandate_changed', providerMethodId: id, isActive: false };
  const newId = providerId(links.new_mandate);
  if (action === 'replaced' && newId) return { kind: 'method_replaced', providerMethodId: id, newMethodId: newId };
  return MANDATE_BEGINS.has(action)
    ? { kind: 'methods_changed', ...customerOf(event, links), providerMethodId: id }
    : IGNORED;
}

/** Whose mandate it is: the page on which it was made has named our customer. */
function customerOf(event: Record<string, unknown>, links: Loose) {
  const [there, ours] = [providerId(links.customer), metadataOf(event).customer_id];
  return { ...(there ? { providerCustomerId: there } : {}), ...(ours ? { ownCustomerId: ours } : {}) };
}

/** Metadata of the record that the event is about. */
const metadataOf = ({ resource_metadata: metadata }: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries((metadata ?? {}) as Loose).filter((each): each is [string, string] => typeof each[1] === 'string'),
  );

const atOf = ({ created_at: at }: Record<string, unknown>): { reportedAt?: string } =>
  typeof at === 'string' && !Number.isNaN(Date.parse(at)) ? { reportedAt: new Date(at).toISOString() } : {};

const FAILS = new Set(['failed', 'charged_back', 'cancelled', 'customer_approval_denied', 'bounced', 'funds_returned']);

function faultOf(event: Record<string, unknown>, happened: string): { error?: ProviderError } {
  const details: Loose = event.details;
  const cause = providerId(details?.cause);
  if (!FAILS.has(happened) || !cause) return {};
  const message = typeof details.description === 'string' ? details.description : cause;
  return { error: { code: cause, message: message.slice(0, MESSAGE_MAX).toWellFormed() } };
}
