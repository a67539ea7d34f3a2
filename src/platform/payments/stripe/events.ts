import { fromWire } from '../../../engine/money/wire.ts';
import { textsOf } from '../metadata.ts';
import type { ProviderEvent, Received } from '../port.ts';
import { providerId } from '../provider-id.ts';
import { STRIPE_WIRE } from './wire.ts';

// biome-ignore lint/suspicious/noExplicitAny: a stored event is read defensively, field by field
type Loose = any;

const text = (value: unknown): string | undefined => providerId(value) ?? providerId((value as Loose)?.id);

/** Newer API versions send `refund.*`. */
const REFUND_TYPES = new Set(['charge.refund.updated', 'refund.updated', 'refund.failed']);

const CHANGES_OF_METHODS = new Set(['payment_method.updated', 'payment_method.automatically_updated']);

/** What people recognise a stored method by. */
export function methodDetails(method: Loose): Record<string, string> {
  const kind = method?.[method?.type] ?? {};
  const shown = {
    brand: kind.brand ?? kind.bank_name,
    last4: kind.last4,
    expiry: kind.exp_year && `${kind.exp_year}-${String(kind.exp_month).padStart(2, '0')}`,
    scheme: kind.network ?? kind.account_type,
  };
  return Object.fromEntries(
    Object.entries(shown).filter((each): each is [string, string] => providerId(each[1]) !== undefined),
  );
}

/** How many characters of the provider's message for a refused payment are kept: more than any real one has. */
const MESSAGE_MAX = 1000;
const messageOf = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, MESSAGE_MAX).toWellFormed() : '';

/** States of an intent in which a part of a transfer is with the customer: it waits for the rest, or was given up. */
const NOT_RECEIVED: readonly unknown[] = ['requires_action', 'canceled'];

/**
 * What an intent of an event, an answer or a list has received, in our smallest unit; null for an amount that we cannot
 * have requested. A part of a transfer is none yet: the customer may still be given it back.
 */
export function receivedOf({ amount_received: wire, currency, status }: Loose): { received?: Received } {
  if (NOT_RECEIVED.includes(status)) return {};
  if (!Number.isSafeInteger(wire) || wire <= 0 || typeof currency !== 'string') return {};
  const code = currency.toUpperCase();
  return { received: { currency: code, amountCents: fromWire(STRIPE_WIRE, wire, code) ?? null } };
}

function askedOf({ amount: wire, currency }: Loose): { asked?: Received } {
  const { received: asked } = receivedOf({ amount_received: wire, currency });
  return asked ? { asked } : {};
}

/** A stored event of Stripe in our terms. Rule: payments.md#providers. */
export function parseStripeEvent(event: Record<string, unknown>): ProviderEvent {
  const object: Loose = (event.data as Loose)?.object;
  const type = String(event.type);
  const id = text(object?.id);
  if (!id) return { kind: 'ignored' };
  if (type === 'payment_intent.partially_funded') return { kind: 'amounts_changed', providerPaymentId: id };
  if (type.startsWith('payment_intent.')) {
    const fault = object.last_payment_error;
    return {
      kind: 'payment',
      providerPaymentId: id,
      status: String(object.status),
      ...receivedOf(object),
      ...askedOf(object),
      metadata: textsOf(object.metadata),
      ...(fault
        ? {
            error: {
              code: text(fault.decline_code) ?? text(fault.code) ?? 'card_declined',
              message: messageOf(fault.message),
            },
          }
        : {}),
    };
  }
  if (type === 'setup_intent.succeeded') {
    const [customer, method] = [text(object.customer), text(object.payment_method)];
    if (!customer || !method) return { kind: 'ignored' };
    return {
      kind: 'method_attached',
      providerCustomerId: customer,
      providerMethodId: method,
      methodType: String(object.payment_method_types?.[0] ?? 'card'),
      details: {},
      isGuessed: true,
    };
  }
  if (type === 'customer.updated') {
    const method = text(object.invoice_settings?.default_payment_method);
    if (!method) return { kind: 'ignored' };
    return {
      kind: 'method_attached',
      providerCustomerId: id,
      providerMethodId: method,
      methodType: 'card',
      details: {},
      isGuessed: true,
    };
  }
  if (CHANGES_OF_METHODS.has(type))
    return {
      kind: 'method_changed',
      providerMethodId: id,
      methodType: providerId(object.type) ?? 'card',
      details: methodDetails(object),
    };
  if (type === 'mandate.updated') {
    const method = text(object.payment_method);
    if (!method || object.status === 'pending') return { kind: 'ignored' };
    return { kind: 'mandate_changed', providerMethodId: method, isActive: object.status === 'active' };
  }
  if (type === 'charge.dispute.created') {
    const payment = text(object.payment_intent);
    if (!payment) return { kind: 'ignored' };
    return { kind: 'dispute_opened', providerPaymentId: payment, reason: text(object.reason) ?? null };
  }
  if (type === 'payment_method.detached') return { kind: 'method_detached', providerMethodId: id };
  if (type === 'charge.dispute.closed') {
    const payment = text(object.payment_intent);
    if (!payment) return { kind: 'ignored' };
    return {
      kind: 'dispute_closed',
      providerPaymentId: payment,
      isLost: object.status === 'lost',
      reason: text(object.reason) ?? null,
    };
  }
  if (REFUND_TYPES.has(type)) {
    const code = text(object.failure_reason);
    return {
      kind: 'refund',
      providerRefundId: id,
      status: String(object.status),
      metadata: textsOf(object.metadata),
      ...(code ? { error: { code, message: code } } : {}),
    };
  }
  return { kind: 'ignored' };
}
