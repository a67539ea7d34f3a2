/** Why a provider did not do what it was asked. */
export interface ProviderError {
  code: string;
  message: string;
}

/** Money that a provider says it has received; an amount of null is none that could have been asked for. */
export interface Received {
  currency: string;
  amountCents: number | null;
}

/** What became of an attempt to charge. Rule: payments.md#automatic-payment. */
export type ChargeOutcome =
  /** The provider answered: `status` is its own word, `paymentStatus` ours. */
  | {
      kind: 'answered';
      status: string;
      paymentStatus: 'processing' | 'succeeded' | 'failed';
      /** Null when it did not even begin one. */
      providerPaymentId: string | null;
      nextAction?: Record<string, unknown>;
      /** Where it sends its events. */
      received?: Received;
      error?: ProviderError;
    }
  /** Below what the provider takes: nothing was charged, a greater amount may be later. */
  | { kind: 'amount_too_small'; error: ProviderError }
  /** Refused off-line; the customer has to confirm. */
  | { kind: 'authentication_required'; error: ProviderError; providerPaymentId?: string }
  /** Unknown: the same call, with the same key, finds out. */
  | { kind: 'unreachable'; error: ProviderError };

/** One charge; `idempotencyKey` makes a repetition of it the same charge. */
export interface ChargeRequest {
  idempotencyKey: string;
  amountCents: number;
  currency: string;
  providerCustomerId: string;
  providerMethodId: string;
  description: string;
  metadata: Record<string, string>;
}

/** A hosted page: to pay an amount, or to store a method. */
export interface PageRequest {
  idempotencyKey: string;
  providerCustomerId: string;
  methodTypes: readonly string[];
  successUrl: string;
  /** Absent: a method is stored, nothing is paid. */
  payment?: { amountCents: number; currency: string; description: string; metadata: Record<string, string> };
}

/** What a provider's event says, in our words. Rule: payments.md#providers "incoming events". */
export type ProviderEvent =
  | {
      kind: 'payment';
      providerPaymentId: string;
      status: string;
      received?: Received;
      metadata: Record<string, string>;
      error?: ProviderError;
    }
  | {
      kind: 'method_attached';
      providerCustomerId: string;
      providerMethodId: string;
      methodType: string;
      details: Record<string, string>;
    }
  | { kind: 'method_detached'; providerMethodId: string }
  | { kind: 'dispute_closed'; providerPaymentId: string; isLost: boolean; reason: string | null }
  | {
      kind: 'refund';
      providerRefundId: string;
      status: string;
      metadata: Record<string, string>;
      error?: ProviderError;
    }
  | { kind: 'ignored' };

/**
 * A payment provider over the network. No method is called inside a transaction. Refusals come back as values; trouble
 * on the way is an Outage. Rule: payments.md#providers "the provider abstraction".
 */
export interface PaymentProvider {
  /** Whether the credentials work, and whether they move real money. @throws Outage */
  check(): Promise<{ ok: true; live: boolean } | { ok: false; error: ProviderError }>;
  /** @throws ProviderRefusal, Outage */
  createCustomer(customer: {
    idempotencyKey: string;
    name: string | null;
    email: string | null;
    metadata: Record<string, string>;
  }): Promise<string>;
  charge(request: ChargeRequest): Promise<ChargeOutcome>;
  /** What the provider holds about a payment. @throws Outage */
  readPayment(providerPaymentId: string): Promise<ChargeOutcome>;
  /** @throws ProviderRefusal, Outage */
  openPage(request: PageRequest): Promise<{ id: string; url: string }>;
  expirePage(id: string): Promise<void>;
  /** @throws ProviderRefusal, when it has ended otherwise; Outage */
  cancel(providerPaymentId: string): Promise<void>;
  /** @throws ProviderRefusal, Outage */
  refund(refund: {
    idempotencyKey: string;
    providerPaymentId: string;
    amountCents: number;
    currency: string;
    reason: RefundReason | null;
    metadata: Record<string, string>;
  }): Promise<{ providerRefundId: string; status: string }>;
  /** What the provider holds about a refund. @throws Outage */
  readRefund(providerRefundId: string): Promise<{ status: string; error?: ProviderError }>;
  /** Makes the provider send its events to `url`. @throws ProviderRefusal, Outage */
  registerInbound(url: string, formerId: string | null): Promise<{ id: string; secret: string }>;
  /** Ends what registerInbound made. @throws ProviderRefusal, when it is gone or not ours any longer; Outage */
  endInbound(id: string): Promise<void>;
}

/** Why money goes back, as providers want to know it. */
export type RefundReason = 'duplicate' | 'fraudulent' | 'requested_by_customer';

/** A provider said no. */
export class ProviderRefusal extends Error {
  readonly error: ProviderError;

  constructor(error: ProviderError) {
    super(`${error.code}: ${error.message}`);
    this.name = 'ProviderRefusal';
    this.error = error;
  }
}
