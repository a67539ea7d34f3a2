import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/**
 * The id of a record. The compiler refuses the id of one noun where that of another one is wanted; any text fits, since
 * bodies, rows and paths bring ids as texts.
 */
export type Id<Noun extends string> = string & { readonly __id?: Noun };

export type AddOnId = Id<'add on'>;
export type AlertId = Id<'alert'>;
export type ApiKeyId = Id<'api key'>;
export type AppliedCouponId = Id<'applied coupon'>;
export type AuditId = Id<'audit'>;
export type AuthorizationId = Id<'authorization'>;
export type BillingEntityId = Id<'billing entity'>;
export type BudgetHoldId = Id<'budget hold'>;
export type BudgetId = Id<'budget'>;
export type BudgetWindowId = Id<'budget window'>;
export type ChargeId = Id<'charge'>;
export type ChargeFilterId = Id<'charge filter'>;
export type CommitmentId = Id<'commitment'>;
export type CorrectionId = Id<'correction'>;
export type CouponId = Id<'coupon'>;
export type CreditNoteId = Id<'credit note'>;
export type CustomerId = Id<'customer'>;
export type DocumentId = Id<'document'>;
export type DunningCampaignId = Id<'dunning campaign'>;
export type EntitlementId = Id<'entitlement'>;
export type EventId = Id<'event'>;
export type EventBatchId = Id<'event batch'>;
export type FeatureId = Id<'feature'>;
export type FeeId = Id<'fee'>;
export type FixedChargeId = Id<'fixed charge'>;
export type InboundEventId = Id<'inbound event'>;
export type InvoiceId = Id<'invoice'>;
export type InvoiceSectionId = Id<'invoice section'>;
export type MetricId = Id<'metric'>;
export type OrderId = Id<'order'>;
export type OrderFormId = Id<'order form'>;
export type OrganizationId = Id<'organization'>;
export type PaymentId = Id<'payment'>;
export type PaymentMethodId = Id<'payment method'>;
export type PaymentProviderId = Id<'payment provider'>;
export type PaymentReceiptId = Id<'payment receipt'>;
export type PaymentRequestId = Id<'payment request'>;
export type PlanId = Id<'plan'>;
export type PricingUnitId = Id<'pricing unit'>;
export type PrivilegeId = Id<'privilege'>;
export type ProviderDriftId = Id<'provider drift'>;
export type QuoteId = Id<'quote'>;
export type QuoteVersionId = Id<'quote version'>;
export type ReconciliationId = Id<'reconciliation'>;
export type SubscriptionId = Id<'subscription'>;
export type TaxId = Id<'tax'>;
export type TaxDocumentId = Id<'tax document'>;
export type IntegrationId = Id<'integration'>;
export type TransmissionId = Id<'transmission'>;
export type UsageShapeId = Id<'usage shape'>;
export type UsageThresholdId = Id<'usage threshold'>;
export type WalletId = Id<'wallet'>;
export type WalletHoldId = Id<'wallet hold'>;
export type WalletTransactionId = Id<'wallet transaction'>;
export type WebhookDeliveryId = Id<'webhook delivery'>;
export type WebhookEndpointId = Id<'webhook endpoint'>;

/** What clients call their customers and subscriptions: no id of ours. */
export type ExternalCustomerId = Id<'external customer'>;
export type ExternalSubscriptionId = Id<'external subscription'>;

// Random bytes are fetched for many ids together. Measured: 0.3 µs an id instead of 2.8 µs.
const BYTES = 16;
const pool = new Uint8Array(BYTES * 256);
let used = pool.length;
let msecs = Number.NEGATIVE_INFINITY;
let seq = 0;

/**
 * A new UUID v7 from the real clock, increasing within a process: ids break ties of business time
 * (everywhere.md#time-and-ids).
 */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + BYTES);
  used += BYTES;
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    // A start in the lower half leaves 2^31 ids of this millisecond before the time has to move.
    seq = ((random[6]! & 0x7f) << 24) | (random[7]! << 16) | (random[8]! << 8) | random[9]!;
  } else {
    seq = (seq + 1) | 0;
    if (seq === 0) msecs += 1;
  }
  return v7({ random, msecs, seq });
}

/** The smallest id that can be made at an instant of the real clock; older ids are smaller. */
export const firstIdAt = (at: { epochMilliseconds: number }): string => {
  const time = at.epochMilliseconds.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};

/** When an id was made, in milliseconds of the real clock. */
export const madeAtMs = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text may be sent to Postgres as a uuid; anything else in a path is not found. */
export const isUuid = (text: string): boolean => UUID.test(text);
