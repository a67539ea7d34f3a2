import { Outage } from '../refusal.ts';

/** Reasons why a provider did not do what was requested. */
export interface ProviderError {
  code: string;
  message: string;
  /** Status of the provider's answer: 401 and 403 are about our credentials, not about the request. */
  httpStatus?: number;
}

/** Whether our credentials were refused, so that the provider has not looked at the request. */
export const isAboutCredentials = (error: ProviderError | undefined): error is ProviderError =>
  error?.httpStatus === 401 || error?.httpStatus === 403;

/**
 * Whether an error says nothing of what an earlier attempt with the same key has done: our credentials were refused, or
 * the answer came from a proxy in front of the provider, which gives no reason of its own.
 */
export const isSilentOnBefore = (error: ProviderError | undefined): boolean => {
  const { code, httpStatus } = error ?? {};
  return isAboutCredentials(error) || (httpStatus !== undefined && code === noReasonCode(httpStatus));
};

/** Code of an error whose answer gives no reason. */
export const noReasonCode = (httpStatus: number): string => `status_${httpStatus}`;

/**
 * Money that a provider reports as received, as far as it says so: each half is compared by itself. An amount of null
 * cannot have been requested.
 */
export interface Received {
  currency?: string;
  amountCents?: number | null;
}

/** The result of an attempt to charge. Rule: payments.md#automatic-payment. */
export type ChargeOutcome =
  /** The provider answered: `status` is its own word, `paymentStatus` ours. */
  | {
      kind: 'answered';
      status: string;
      paymentStatus: 'processing' | 'succeeded' | 'failed';
      /** Null if it did not start a payment. */
      providerPaymentId: string | null;
      nextAction?: Record<string, unknown>;
      received?: Received;
      /** The day on which a bank debit is expected to be paid, `YYYY-MM-DD`. */
      expectedSettlementDate?: string;
      error?: ProviderError;
    }
  /** Below the provider's minimum: nothing was charged, and a greater amount may be later. */
  | { kind: 'amount_too_small'; error: ProviderError }
  /** Refused off-session; the customer has to confirm. */
  | { kind: 'authentication_required'; error: ProviderError; providerPaymentId?: string }
  /** The provider knows the key with another content: sent no more, a person has to look. */
  | { kind: 'conflict'; error: ProviderError }
  /** Unknown: the same call with the same key returns the outcome. */
  | { kind: 'unreachable'; error: ProviderError };

/** One charge; a repetition with the same `idempotencyKey` is the same charge. */
export interface ChargeRequest {
  idempotencyKey: string;
  amountCents: number;
  currency: string;
  providerCustomerId: string;
  providerMethodId: string;
  /** What is known of the method, such as its scheme. */
  methodDetails?: Readonly<Record<string, string>>;
  description: string;
  metadata: Record<string, string>;
  /** Where the customer comes back to who has to confirm the charge; absent: it is made without the customer. */
  returnUrl?: string;
  /** It follows no schedule to which the customer agreed: credits were bought because few were left. */
  isUnscheduled?: true;
}

/**
 * A payment that the customer makes by transfer; a repetition with the same `idempotencyKey` is the same payment. The
 * account and what to quote are in `nextAction`.
 */
export interface TransferRequest
  extends Pick<
    ChargeRequest,
    'idempotencyKey' | 'amountCents' | 'currency' | 'providerCustomerId' | 'description' | 'metadata'
  > {
  /** Where the seller is: its account may be in the same country. */
  sellerCountry: string | null;
}

/** A hosted page: to pay an amount, or to store a method. */
export interface PageRequest {
  idempotencyKey: string;
  providerCustomerId: string;
  methodTypes: readonly string[];
  successUrl: string;
  /** Currency of the customer; null while it has none. */
  currency: string | null;
  /** Of a page on which something is paid, as of a transfer. */
  sellerCountry?: string | null;
  /** Names our record of the customer for whom a method is stored. */
  metadata: Record<string, string>;
  /** Absent: a method is stored, nothing is paid. */
  payment?: { amountCents: number; currency: string; description: string; metadata: Record<string, string> };
}

/** A provider's event in our terms. Rule: payments.md#providers "incoming events". */
export type ProviderEvent =
  | {
      kind: 'payment';
      providerPaymentId: string;
      status: string;
      received?: Received;
      /** What is to be paid, where the provider says it before anything has come in. */
      asked?: Received;
      metadata: Record<string, string>;
      error?: ProviderError;
      /** The account to which the customer transfers the money; read from the provider, as no event says it. */
      transferTo?: Record<string, unknown>;
      /** When it happened, where the provider says it: what is reported later about an earlier instant is outdated. */
      reportedAt?: string;
    }
  | {
      kind: 'method_attached';
      providerCustomerId: string;
      providerMethodId: string;
      methodType: string;
      details: Record<string, string>;
      /** The event does not say what kind of method it is: that is read from the provider. */
      isGuessed?: true;
    }
  | { kind: 'method_detached'; providerMethodId: string }
  /** Its card was renewed, or its description corrected. */
  | { kind: 'method_changed'; providerMethodId: string; methodType: string; details: Record<string, string> }
  /**
   * Something that a customer has stored there is new or different, and the event does not say what: it is read. The
   * customer is known by its id there, by ours, or by one of its methods.
   */
  | { kind: 'methods_changed'; providerCustomerId?: string; ownCustomerId?: string; providerMethodId?: string }
  /** Its id changed, and it is the same method. */
  | { kind: 'method_replaced'; providerMethodId: string; newMethodId: string }
  /** The right to collect from a bank account by it. */
  | { kind: 'mandate_changed'; providerMethodId: string; isActive: boolean }
  /** Money that had come in was taken back. */
  | {
      kind: 'payment_reversed';
      providerPaymentId: string;
      status: string;
      error?: ProviderError;
      /** As of a payment. */
      reportedAt?: string;
    }
  /** A part has come in: what is left to pay is read, because an event is stored without numbers of accounts. */
  | { kind: 'amounts_changed'; providerPaymentId: string }
  | { kind: 'dispute_opened'; providerPaymentId: string; reason: string | null }
  | { kind: 'dispute_closed'; providerPaymentId: string; isLost: boolean; reason: string | null }
  | {
      kind: 'refund';
      providerRefundId: string;
      status: string;
      metadata: Record<string, string>;
      error?: ProviderError;
      /** Money that was paid out came back. */
      isReturn?: true;
    }
  | { kind: 'ignored' }
  /** Of a type that we act upon, without what it has to say. */
  | { kind: 'malformed' }
  /** One that nobody has decided about yet: it fails, and is shown as such. */
  | { kind: 'unknown'; type: string };

/** A method as its provider holds it. */
export interface MethodThere {
  providerMethodId: string;
  methodType: string;
  details: Record<string, string>;
  /** Ids that it had before. */
  formerIds?: readonly string[];
}

/** A page of a provider's records, oldest or newest first as the provider has them; `next` null: there are no more. */
export interface Listed<Item> {
  items: Item[];
  next: string | null;
}

/** What of a provider's records is listed: those made from one instant to another, from a cursor on. */
export interface ListRequest {
  sinceSeconds: number;
  /** Null: to this day. A provider that cannot end a list goes on to this day as well. */
  untilSeconds?: number | null;
  cursor: string | null;
}

export interface PaymentThere {
  providerPaymentId: string;
  status: string;
  currency: string;
  /** In our smallest unit; null if it cannot have been requested by us. */
  amountCents: number | null;
  received?: Received;
  metadata: Record<string, string>;
  madeAtSeconds?: MadeAtSeconds;
}

/** When the provider made it; absent where it does not say. */
type MadeAtSeconds = number;

/** A payment that was begun on a page. */
export type PaymentOfPage = Omit<Extract<ProviderEvent, { kind: 'payment' }>, 'kind'>;

export interface RefundThere {
  providerRefundId: string;
  providerPaymentId: string;
  status: string;
  currency: string;
  amountCents: number | null;
  metadata: Record<string, string>;
  madeAtSeconds?: MadeAtSeconds;
}

export interface DisputeThere {
  providerDisputeId: string;
  providerPaymentId: string;
  /** Null while it is open. */
  isLost: boolean | null;
  reason: string | null;
  madeAtSeconds?: MadeAtSeconds;
}

/** An address for the events of a provider. */
export interface InboundRequest {
  idempotencyKey: string;
  url: string;
  /** What was registered before for this connection. */
  formerId: string | null;
  /** What was registered for other connections, deleted ones too, and stays. */
  keptIds: readonly string[];
}

/**
 * A payment provider over the network. No method is called inside a transaction. Refusals are returned as values;
 * network errors are Outages. Rule: payments.md#providers "the provider abstraction".
 */
export interface PaymentProvider {
  /**
   * Whether the credentials work with the rights that we need, and whether they move real money. @throws Outage
   */
  check(): Promise<{ ok: true; live: boolean } | { ok: false; error: ProviderError }>;
  /** @throws ProviderRefusal, Outage */
  createCustomer(customer: {
    idempotencyKey: string;
    name: string | null;
    email: string | null;
    metadata: Record<string, string>;
  }): Promise<string>;
  charge(request: ChargeRequest): Promise<ChargeOutcome>;
  /**
   * Tells what a customer has brought back who was sent away during a charge, and what became of the charge; of
   * providers that learn it in no other way. The same details are told once, however often it is called.
   *
   * @throws ReadRefused, where they say nothing of this payment; CredentialsRefused, other Outages
   */
  completeCharge?(returned: { paymentId: string; details: Readonly<Record<string, string>> }): Promise<ChargeOutcome>;
  /** Begins a payment by transfer, of providers that name an account for each customer. */
  requestTransfer?(request: TransferRequest): Promise<ChargeOutcome>;
  /** The provider's state of a payment. @throws ReadRefused, CredentialsRefused, other Outages */
  readPayment(providerPaymentId: string): Promise<ChargeOutcome>;
  /** @throws ProviderRefusal, Outage */
  openPage(request: PageRequest): Promise<{ id: string; url: string }>;
  /** @throws ProviderRefusal, when it was paid or has ended; Outage */
  expirePage(id: string): Promise<void>;
  /**
   * The payment that was begun on a page, and whether somebody may still pay there; of providers that let it be asked.
   * @throws ProviderRefusal, Outage
   */
  readPage?(id: string): Promise<{ isOpen: boolean; payment?: PaymentOfPage }>;
  /** @throws ProviderRefusal, when it has ended otherwise; Outage */
  cancel(providerPaymentId: string): Promise<void>;
  /** @throws ProviderRefusal, ProviderConflict, Outage */
  refund(refund: {
    idempotencyKey: string;
    providerPaymentId: string;
    amountCents: number;
    currency: string;
    reason: RefundReason | null;
    metadata: Record<string, string>;
  }): Promise<{ providerRefundId: string; status: string }>;
  /** The provider's state of a refund. @throws ReadRefused, CredentialsRefused, other Outages */
  readRefund(providerRefundId: string): Promise<{ status: string; error?: ProviderError }>;
  /**
   * Reserves an amount without taking it: `requires_capture` is its usual answer. Ended by `cancel`. Only of providers
   * with the capability `authorize`.
   */
  authorize?(request: ChargeRequest): Promise<ChargeOutcome>;
  /** Undefined: it never existed there, or was deleted. @throws Outage */
  readCustomer?(providerCustomerId: string): Promise<{ defaultMethodId: string | null } | undefined>;
  /** All methods of some types that a customer has stored there. @throws ProviderRefusal, Outage */
  listMethods?(providerCustomerId: string, types: readonly string[]): Promise<MethodThere[]>;
  /** Lists of the capability `list`, for reconciliation. @throws ProviderRefusal, Outage */
  listPayments?(request: ListRequest): Promise<Listed<PaymentThere>>;
  listRefunds?(request: ListRequest): Promise<Listed<RefundThere>>;
  listDisputes?(request: ListRequest): Promise<Listed<DisputeThere>>;
  /**
   * Registers `url` for its events, once for a key, and removes what was registered for it otherwise: capability
   * `register_inbound`. @throws ProviderRefusal, Outage
   */
  registerInbound?(inbound: InboundRequest): Promise<{ id: string; secret: string }>;
  /** Removes what registerInbound registered. @throws ProviderRefusal, when it is gone or no longer ours; Outage */
  endInbound?(id: string): Promise<void>;
}

/** Reason of a refund in the terms of providers. */
export type RefundReason = 'duplicate' | 'fraudulent' | 'requested_by_customer';

/** The key of a call was used for another content, so its outcome is unknown and will stay so. */
export class ProviderConflict extends Error {
  readonly error: ProviderError;

  constructor(error: ProviderError) {
    super(`${error.code}: ${error.message}`);
    this.name = 'ProviderConflict';
    this.error = error;
  }
}

/** The provider has had too many calls; it may say when it takes the next one. Nothing was done. */
export class TooManyCalls extends Outage {
  /** Undefined if the provider does not say it. */
  readonly saidMs: number | undefined;

  constructor(provider: string, cause: unknown, saidMs?: number) {
    super(provider, cause, saidMs === undefined ? {} : { retryAfterMs: saidMs });
    this.name = 'TooManyCalls';
    this.message = `${provider} has had too many calls`;
    this.saidMs = saidMs;
  }
}

/**
 * The provider does not accept our credentials. What became of the call is unknown where its protocol does not say that
 * such a call does nothing.
 */
export class CredentialsRefused extends Outage {
  readonly error: ProviderError;

  constructor(provider: string, cause: unknown, httpStatus: 401 | 403) {
    super(provider, cause);
    this.name = 'CredentialsRefused';
    const message = `${provider} does not accept the credentials (${httpStatus}).`;
    this.error = { code: 'credentials_refused', message, httpStatus };
  }
}

/**
 * The provider does not tell of an object, as it has none with this id in the account. To those who wait for the state
 * of the object it is an Outage.
 */
export class ReadRefused extends Outage {
  readonly error: ProviderError;

  constructor(provider: string, cause: unknown, error: ProviderError) {
    super(provider, cause);
    this.name = 'ReadRefused';
    this.error = error;
  }
}

/** A refusal of a provider. */
export class ProviderRefusal extends Error {
  readonly error: ProviderError;

  constructor(error: ProviderError) {
    super(`${error.code}: ${error.message}`);
    this.name = 'ProviderRefusal';
    this.error = error;
  }
}
