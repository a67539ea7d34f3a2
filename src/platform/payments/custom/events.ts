import type { ProviderError, ProviderEvent } from '../port.ts';
import { EVENT_DATA, moneySaid } from './protocol.ts';

/** A stored event of a custom provider in our terms. Rule: provider-connections.md#custom-provider. */
export function parseCustomEvent(event: Record<string, unknown>): ProviderEvent {
  const malformed: ProviderEvent = { kind: 'malformed' };
  switch (event.type) {
    case 'payment.updated': {
      const { data } = EVENT_DATA['payment.updated'].safeParse(event.data);
      return data ? paymentEvent(data) : malformed;
    }
    case 'refund.updated': {
      const { data } = EVENT_DATA['refund.updated'].safeParse(event.data);
      if (!data) return malformed;
      return {
        kind: 'refund',
        providerRefundId: data.id,
        status: data.status,
        metadata: data.metadata ?? {},
        ...faultOf(data.error),
      };
    }
    case 'method.attached': {
      const { data } = EVENT_DATA['method.attached'].safeParse(event.data);
      if (!data) return malformed;
      return {
        kind: 'method_attached',
        providerCustomerId: data.provider_customer_id,
        providerMethodId: data.id,
        methodType: data.type,
        details: data.details ?? {},
      };
    }
    case 'method.changed': {
      const { data } = EVENT_DATA['method.changed'].safeParse(event.data);
      if (!data) return malformed;
      return { kind: 'method_changed', providerMethodId: data.id, methodType: data.type, details: data.details ?? {} };
    }
    case 'method.detached': {
      const { data } = EVENT_DATA['method.detached'].safeParse(event.data);
      return data ? { kind: 'method_detached', providerMethodId: data.id } : malformed;
    }
    case 'dispute.opened': {
      const { data } = EVENT_DATA['dispute.opened'].safeParse(event.data);
      return data
        ? { kind: 'dispute_opened', providerPaymentId: data.payment_id, reason: data.reason ?? null }
        : malformed;
    }
    case 'dispute.closed': {
      const { data } = EVENT_DATA['dispute.closed'].safeParse(event.data);
      if (!data) return malformed;
      const { payment_id: providerPaymentId, lost: isLost, reason } = data;
      return { kind: 'dispute_closed', providerPaymentId, isLost, reason: reason ?? null };
    }
    default:
      return { kind: 'ignored' };
  }
}

type PaymentData = (typeof EVENT_DATA)['payment.updated']['_output'];

function paymentEvent(data: PaymentData): ProviderEvent {
  const error = faultOf(data.error);
  if (data.reversed) return { kind: 'payment_reversed', providerPaymentId: data.id, status: 'failed', ...error };
  // Two of our words say why nothing was paid.
  const isNotPaid = data.status === 'amount_too_small' || data.status === 'authentication_required';
  return {
    kind: 'payment',
    providerPaymentId: data.id,
    status: isNotPaid ? 'failed' : data.status,
    // Only money that came in is compared with what was charged.
    ...(data.status === 'succeeded' ? { received: moneySaid(data) } : {}),
    asked: moneySaid(data),
    metadata: data.metadata ?? {},
    ...(isNotPaid && !data.error ? { error: { code: data.status, message: data.status } } : error),
  };
}

const faultOf = (error: ProviderError | null | undefined): { error?: ProviderError } => (error ? { error } : {});
