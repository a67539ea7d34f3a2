import type { ProviderEvent } from './port.ts';

/** An event of a sandbox connection, as it was stored. Rule: beyond 13.3. */
export function parseSandboxEvent(payload: Record<string, unknown>): ProviderEvent {
  const { provider_payment_id: id, provider_refund_id: refundId, status, dispute, error } = payload;
  if (typeof refundId === 'string' && typeof status === 'string')
    return { kind: 'refund', providerRefundId: refundId, status, metadata: {} };
  if (typeof id !== 'string') return { kind: 'ignored' };
  if (dispute === 'lost' || dispute === 'won')
    return { kind: 'dispute_closed', providerPaymentId: id, isLost: dispute === 'lost', reason: null };
  if (typeof status !== 'string') return { kind: 'ignored' };
  return {
    kind: 'payment',
    providerPaymentId: id,
    status,
    metadata: {},
    ...(isError(error) ? { error } : {}),
  };
}

const isError = (value: unknown): value is { code: string; message: string } =>
  typeof value === 'object' && value !== null && 'code' in value && 'message' in value;
