import Stripe from 'stripe';
import { fromWire, toWire } from '../../../engine/money/wire.ts';
import { textsOf } from '../metadata.ts';
import {
  type ChargeOutcome,
  type ChargeRequest,
  type PaymentProvider,
  ProviderRefusal,
  type Received,
  type TransferRequest,
} from '../port.ts';
import { KEY_CONFLICT, NOT_REPRESENTABLE, notSupported, readState, TOO_SMALL } from '../refused.ts';
import { paymentStatusOf } from '../status-words.ts';
import { kindsIn, offersTransfer, storedKinds } from '../unstored-kinds.ts';
import { receivedOf } from './events.ts';
import { stripeLists } from './lists.ts';
import { faultOf, isConflict, isTooMany, outageOf, refusable } from './refusable.ts';
import { transferIn } from './transfers.ts';
import { STRIPE_WIRE } from './wire.ts';

/** Longest wait for one answer of Stripe; the job is then tried again. */
const TIMEOUT_MS = 20_000;

/** More endpoints than an account can have. */
const ENDPOINTS_MOST = 100;

/** Events that Stripe sends us; other changes are queried. Rule: payments.md#providers. */
export const STRIPE_EVENTS = [
  'setup_intent.succeeded',
  'payment_intent.processing',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'payment_method.detached',
  'charge.refund.updated',
  'refund.updated',
  'refund.failed',
  'customer.updated',
  'charge.dispute.created',
  'charge.dispute.closed',
  'payment_method.updated',
  'payment_method.automatically_updated',
  'mandate.updated',
  'payment_intent.partially_funded',
] as const;

export interface StripeOptions {
  secretKey: string;
  supports3ds: boolean;
  requiresConsent: boolean;
  /** Address of the API; absent for Stripe itself. */
  apiUrl?: string | undefined;
}

/**
 * Stripe, through its SDK. The SDK does not retry; the queue does, with the same idempotency key.
 * Rule: payments.md#providers.
 */
export function stripeProvider(options: StripeOptions): PaymentProvider {
  const stripe = new Stripe(options.secretKey, {
    maxNetworkRetries: 0,
    telemetry: false,
    timeout: TIMEOUT_MS,
    ...addressOf(options.apiUrl),
  });
  const outcomeOf = (intent: Stripe.PaymentIntent): ChargeOutcome => {
    const status = paymentStatusOf('stripe', intent.status);
    const error = intent.last_payment_error;
    return {
      kind: 'answered',
      status: intent.status,
      paymentStatus: status === 'pending' ? 'processing' : status,
      providerPaymentId: intent.id,
      ...receivedOf(intent),
      ...(intent.next_action ? { nextAction: { ...intent.next_action } } : {}),
      ...(error
        ? { error: { code: error.decline_code ?? error.code ?? 'card_declined', message: error.message ?? '' } }
        : {}),
    };
  };
  async function confirmIntent(
    request: ChargeRequest | TransferRequest,
    way: Partial<Stripe.PaymentIntentCreateParams>,
  ): Promise<ChargeOutcome> {
    const amount = toWire(STRIPE_WIRE, request.amountCents, request.currency);
    if (!amount) return notSupported(request.currency);
    if (amount.wire === 0) return { kind: 'amount_too_small', error: TOO_SMALL };
    try {
      const intent = await stripe.paymentIntents.create(
        {
          amount: amount.wire,
          currency: request.currency.toLowerCase(),
          customer: request.providerCustomerId,
          confirm: true,
          description: request.description,
          metadata: request.metadata,
          ...way,
        },
        { idempotencyKey: request.idempotencyKey },
      );
      return outcomeOf(intent);
    } catch (error) {
      return refusedCharge(error, options.supports3ds);
    }
  }
  return {
    async check() {
      try {
        // A restricted key may lack a right that is needed only later; Stripe's refusal names it.
        const [{ livemode }] = await Promise.all([
          stripe.balance.retrieve(),
          stripe.customers.list({ limit: 1 }),
          stripe.webhookEndpoints.list({ limit: 1 }),
        ]);
        return { ok: true, live: livemode };
      } catch (error) {
        const fault = faultOf(error);
        if (!fault) throw outageOf(error);
        return { ok: false, error: fault };
      }
    },
    async createCustomer({ idempotencyKey, name, email, metadata }) {
      const fields = { ...(name ? { name } : {}), ...(email ? { email } : {}), metadata };
      return (await refusable(() => stripe.customers.create(fields, { idempotencyKey }))).id;
    },
    charge: (request) => confirmIntent(request, byMethod(request)),
    authorize: (request) => confirmIntent(request, { ...byMethod(request), capture_method: 'manual' }),
    async requestTransfer(request) {
      const transfer = transferIn(request.currency, request.sellerCountry);
      if (!transfer) return notSupported(request.currency);
      return confirmIntent(request, {
        allowed_payment_method_types: ['customer_balance'],
        payment_method_data: { type: 'customer_balance' },
        payment_method_options: { customer_balance: transfer },
      });
    },
    ...stripeLists(stripe),
    async readPayment(id) {
      return readState('stripe', async () => outcomeOf(await refusable(() => stripe.paymentIntents.retrieve(id))));
    },
    async openPage({ idempotencyKey, providerCustomerId, methodTypes, successUrl, payment, sellerCountry }) {
      const amount = payment && toWire(STRIPE_WIRE, payment.amountCents, payment.currency);
      if (payment && !amount) throw new ProviderRefusal(notSupported(payment.currency).error);
      if (amount?.wire === 0) throw new ProviderRefusal(TOO_SMALL);
      const kinds = payment ? kindsIn(methodTypes, payment.currency) : storedKinds(methodTypes);
      if (payment && kinds.length === 0) throw new ProviderRefusal(notSupported(payment.currency).error);
      const types = kinds as Stripe.Checkout.SessionCreateParams.AllowedPaymentMethodType[];
      const common = { customer: providerCustomerId, allowed_payment_method_types: types, success_url: successUrl };
      const session = await refusable(() =>
        stripe.checkout.sessions.create(
          payment && amount
            ? {
                ...common,
                mode: 'payment',
                line_items: [
                  {
                    quantity: 1,
                    price_data: {
                      currency: payment.currency.toLowerCase(),
                      unit_amount: amount.wire,
                      product_data: { name: payment.description },
                    },
                  },
                ],
                payment_intent_data: {
                  metadata: payment.metadata,
                  ...(isEachKept(kinds) ? { setup_future_usage: KEPT } : {}),
                },
                ...(isEachKept(kinds)
                  ? {}
                  : { payment_method_options: optionsOf(kinds, payment.currency, sellerCountry) }),
                ...(options.requiresConsent ? { consent_collection: { terms_of_service: 'required' as const } } : {}),
              }
            : { ...common, mode: 'setup' },
          { idempotencyKey },
        ),
      );
      return { id: session.id, url: session.url ?? '' };
    },
    async expirePage(id) {
      await refusable(() => stripe.checkout.sessions.expire(id));
    },
    async readPage(id) {
      const session = await refusable(() => stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent'] }));
      const intent = typeof session.payment_intent === 'object' ? session.payment_intent : null;
      const payment = intent && {
        providerPaymentId: intent.id,
        status: intent.status,
        ...receivedOf(intent),
        ...askedOf(intent),
        ...transferOf(intent),
        metadata: textsOf(intent.metadata),
      };
      return { isOpen: session.status === 'open', ...(payment ? { payment } : {}) };
    },
    async cancel(id) {
      await refusable(() => stripe.paymentIntents.cancel(id));
    },
    async refund({ idempotencyKey, providerPaymentId, amountCents, currency, reason, metadata }) {
      const amount = toWire(STRIPE_WIRE, amountCents, currency);
      if (!amount) throw new ProviderRefusal(notSupported(currency).error);
      if (amount.restCents !== 0) throw new ProviderRefusal(NOT_REPRESENTABLE);
      const refund = await refusable(() =>
        stripe.refunds.create(
          { payment_intent: providerPaymentId, amount: amount.wire, ...(reason ? { reason } : {}), metadata },
          { idempotencyKey },
        ),
      );
      return { providerRefundId: refund.id, status: refund.status ?? 'pending' };
    },
    async readRefund(id) {
      const refund = await readState('stripe', () => refusable(() => stripe.refunds.retrieve(id)));
      const code = refund.failure_reason;
      return { status: refund.status ?? 'pending', ...(code ? { error: { code, message: code } } : {}) };
    },
    async registerInbound({ idempotencyKey, url, formerId, keptIds }) {
      const endpoint = await refusable(() =>
        stripe.webhookEndpoints.create({ url, enabled_events: [...STRIPE_EVENTS] }, { idempotencyKey }),
      );
      // An answer that was lost for longer than Stripe knows the key leaves an endpoint whose secret nobody has.
      const others = await refusable(() => stripe.webhookEndpoints.list({ limit: ENDPOINTS_MOST }));
      const ended = others.data.filter((each) => each.url === url && !keptIds.includes(each.id)).map(({ id }) => id);
      for (const id of new Set([...ended, ...(formerId === null ? [] : [formerId])])) {
        // One that cannot be removed is gone already, or was never ours.
        if (id !== endpoint.id) await stripe.webhookEndpoints.del(id).catch(() => undefined);
      }
      return { id: endpoint.id, secret: endpoint.secret ?? '' };
    },
    async endInbound(id) {
      await refusable(() => stripe.webhookEndpoints.del(id));
    },
  };
}

function addressOf(apiUrl: string | undefined): { host?: string; port?: string; protocol?: 'http' | 'https' } {
  if (apiUrl === undefined) return {};
  const { hostname, port, protocol } = new URL(apiUrl);
  const isPlain = protocol === 'http:';
  return { host: hostname, port: port || (isPlain ? '80' : '443'), protocol: isPlain ? 'http' : 'https' };
}

/** A stored method is charged while its customer is away, unless the customer has to confirm the charge. */
const byMethod = ({ providerMethodId, returnUrl }: ChargeRequest) => ({
  payment_method: providerMethodId,
  ...(returnUrl === undefined ? { off_session: true } : { return_url: returnUrl }),
});

/** The method of a payment on a page is kept for later charges. */
const KEPT = 'off_session';

const isEachKept = (kinds: readonly string[]): boolean => storedKinds(kinds).length === kinds.length;

/**
 * What a page says of each kind where nothing can be kept of some: a page that keeps every method would not offer
 * these.
 */
const optionsOf = (kinds: readonly string[], currency: string, sellerCountry: string | null | undefined) => ({
  ...Object.fromEntries(storedKinds(kinds).map((kind) => [kind, { setup_future_usage: KEPT }])),
  ...(offersTransfer(kinds) ? { customer_balance: transferIn(currency, sellerCountry)! } : {}),
});

/** Where the customer transfers the money of an intent, while it waits for that. */
const transferOf = ({ next_action: action }: Stripe.PaymentIntent) =>
  action?.display_bank_transfer_instructions ? { transferTo: { ...action } } : {};

const askedOf = ({ amount, currency }: Stripe.PaymentIntent): { asked: Received } => {
  const code = currency.toUpperCase();
  return { asked: { currency: code, amountCents: fromWire(STRIPE_WIRE, amount, code) ?? null } };
};

function refusedCharge(error: unknown, supports3ds: boolean): ChargeOutcome {
  if (isTooMany(error)) throw outageOf(error);
  if (isConflict(error)) return { kind: 'conflict', error: KEY_CONFLICT };
  const fault = faultOf(error);
  if (!fault) return { kind: 'unreachable', error: { code: 'unreachable', message: messageOf(error) } };
  const { code, payment_intent: intent } = error as InstanceType<typeof Stripe.errors.StripeError>;
  if (code === 'amount_too_small') return { kind: 'amount_too_small', error: fault };
  if (code === 'authentication_required' && supports3ds)
    return { kind: 'authentication_required', error: fault, ...(intent ? { providerPaymentId: intent.id } : {}) };
  return {
    kind: 'answered',
    status: 'requires_payment_method',
    paymentStatus: 'failed',
    providerPaymentId: intent?.id ?? null,
    error: fault,
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
