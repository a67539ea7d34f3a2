import type { ProviderEvent } from '../port.ts';
import { providerId } from '../provider-id.ts';

/** An event of a sandbox connection, as it was stored. Rule: provider-connections.md#sandbox-provider. */
export function parseSandboxEvent(payload: Record<string, unknown>): ProviderEvent {
  const { status, dispute, error } = payload;
  const [id, refundId] = [providerId(payload.provider_payment_id), providerId(payload.provider_refund_id)];
  if (refundId !== undefined && typeof status === 'string')
    return { kind: 'refund', providerRefundId: refundId, status, metadata: {} };
  if (id === undefined) return { kind: 'ignored' };
  if (dispute === 'lost' || dispute === 'won')
    return { kind: 'dispute_closed', providerPaymentId: id, isLost: dispute === 'lost', reason: null };
  if (typeof status !== 'string') return { kind: 'ignored' };
  if (payload.type === 'payment.charged_back') return { kind: 'payment_reversed', providerPaymentId: id, status };
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
