import { createHash } from 'node:crypto';
import { fromWire, toWire } from '../../../engine/money/wire.ts';
import { Outage } from '../../refusal.ts';
import {
  type ChargeOutcome,
  type ChargeRequest,
  type MethodThere,
  type PageRequest,
  type PaymentProvider,
  ProviderRefusal,
  ReadRefused,
  type Received,
  type RefundReason,
} from '../port.ts';
import { KEY_CONFLICT, NOT_REPRESENTABLE, notSupported, outcomeOfError, readState, TOO_SMALL } from '../refused.ts';
import { paymentStatusOf } from '../status-words.ts';
import { Any, LinkAnswer, PaymentAnswer, StoredMethods, Taken } from './answers.ts';
import { type AdyenTarget, adyenClient, PROVIDER } from './client.ts';
import { pageReference, setupReference } from './references.ts';
import { ADYEN_WIRE } from './wire.ts';

/** Currency of a page on which a customer without a currency stores a method; its amount is 0. */
const SETUP_CURRENCY = 'EUR';
/** The type of stored cards; methods of other kinds are named by their own type. */
const CARD = 'scheme';
/** How many characters the description of a page may have. */
const DESCRIPTION_MAX = 280;

/** Results with which nothing is charged yet: the customer has something to do, or the bank has. */
const WAITS = new Set(['RedirectShopper', 'ChallengeShopper', 'IdentifyShopper', 'PresentToShopper', 'Pending']);

/** What a customer brought back belongs to another payment, which its event ends. */
const OF_ANOTHER_PAYMENT = { code: 'another_payment', message: 'The provider answered with another payment.' };

const REASONS: Record<RefundReason, string> = {
  duplicate: 'DUPLICATE',
  fraudulent: 'FRAUD',
  requested_by_customer: 'CUSTOMER REQUEST',
};

/**
 * Adyen, through its Checkout interface. The queue repeats what has no answer with the same key, to which Adyen repeats
 * its first answer; outcomes of cancellations and refunds come by events. Rule: provider-connections.md#adyen.
 */
export function adyenProvider(target: AdyenTarget): PaymentProvider {
  const call = adyenClient(target);

  async function charge(request: ChargeRequest, wire: number): Promise<ChargeOutcome> {
    const reference = request.metadata.payment_id ?? request.idempotencyKey;
    const answer = await call(
      {
        method: 'POST',
        path: '/payments',
        key: request.idempotencyKey,
        body: {
          amount: { value: wire, currency: request.currency },
          reference,
          paymentMethod: { type: request.methodDetails?.type ?? CARD, storedPaymentMethodId: request.providerMethodId },
          shopperReference: request.providerCustomerId,
          shopperInteraction: 'ContAuth',
          recurringProcessingModel: request.isUnscheduled ? 'UnscheduledCardOnFile' : 'Subscription',
          returnUrl: request.returnUrl ?? target.returnUrl,
        },
      },
      PaymentAnswer,
    );
    const isOther = answer.merchantReference != null && answer.merchantReference !== reference;
    return isOther ? { kind: 'conflict', error: KEY_CONFLICT } : outcomeOf(answer);
  }

  return {
    async check() {
      try {
        await call({ method: 'POST', path: '/paymentMethods', body: {} }, Any);
        return { ok: true, live: target.livePrefix !== undefined };
      } catch (error) {
        if (error instanceof ProviderRefusal) return { ok: false, error: error.error };
        throw error;
      }
    },
    // Adyen has no records of customers: it knows them by our id.
    createCustomer: async ({ idempotencyKey, metadata }) => metadata.customer_id ?? idempotencyKey,
    readCustomer: async () => ({ defaultMethodId: null }),
    async listMethods(providerCustomerId) {
      const filters = { merchantAccount: target.merchantAccount, shopperReference: providerCustomerId };
      const path = `/storedPaymentMethods?${new URLSearchParams(filters)}`;
      const { storedPaymentMethods: stored = [] } = await call({ method: 'GET', path }, StoredMethods);
      return stored.map(({ id, type, brand, lastFour, expiryMonth: month, expiryYear: year }): MethodThere => {
        const expiry = month && year ? `${year}-${month.padStart(2, '0')}` : undefined;
        const details = { type, brand, last4: lastFour, expiry };
        return {
          providerMethodId: id,
          methodType: type === CARD || !type ? 'card' : type,
          details: Object.fromEntries(Object.entries(details).filter((each): each is [string, string] => !!each[1])),
        };
      });
    },
    async charge(request) {
      const amount = toWire(ADYEN_WIRE, request.amountCents, request.currency);
      if (!amount) return notSupported(request.currency);
      if (amount.wire === 0) return { kind: 'amount_too_small', error: TOO_SMALL };
      try {
        return await charge(request, amount.wire);
      } catch (error) {
        return outcomeOfError(error, 'Error');
      }
    },
    async completeCharge({ paymentId, details }) {
      const digest = createHash('sha256').update(JSON.stringify(details)).digest('hex');
      const answer = await readState(PROVIDER, () =>
        call(
          {
            method: 'POST',
            path: '/payments/details',
            isWithoutAccount: true,
            key: `return-${paymentId}-${digest}`,
            body: { details },
          },
          PaymentAnswer,
        ),
      );
      if (answer.merchantReference !== paymentId) throw new ReadRefused(PROVIDER, undefined, OF_ANOTHER_PAYMENT);
      return outcomeOf(answer);
    },
    // Adyen has no call that reads a payment: the capability `read` is missing.
    readPayment: async () => {
      throw new Outage(PROVIDER, new Error('a payment cannot be read'));
    },
    async openPage(request) {
      const body = { ...linkOf(request), storePaymentMethodMode: 'enabled', reusable: false };
      return call({ method: 'POST', path: '/paymentLinks', key: request.idempotencyKey, body }, LinkAnswer);
    },
    async expirePage(id) {
      const path = `/paymentLinks/${encodeURIComponent(id)}`;
      await call({ method: 'PATCH', path, body: { status: 'expired' } }, Any);
    },
    async cancel(id) {
      const path = `/payments/${encodeURIComponent(id)}/cancels`;
      await call({ method: 'POST', path, key: `cancel-${id}`, body: { reference: `cancel-${id}` } }, Taken);
    },
    async refund({ idempotencyKey, providerPaymentId, amountCents, currency, reason, metadata }) {
      const amount = toWire(ADYEN_WIRE, amountCents, currency);
      if (!amount) throw new ProviderRefusal(notSupported(currency).error);
      if (amount.restCents !== 0) throw new ProviderRefusal(NOT_REPRESENTABLE);
      const taken = await call(
        {
          method: 'POST',
          path: `/payments/${encodeURIComponent(providerPaymentId)}/refunds`,
          key: idempotencyKey,
          body: {
            amount: { value: amount.wire, currency },
            reference: metadata.credit_note_id ?? idempotencyKey,
            ...(reason ? { merchantRefundReason: REASONS[reason] } : {}),
          },
        },
        Taken,
      );
      return { providerRefundId: taken.pspReference, status: 'pending' };
    },
    readRefund: async () => {
      throw new Outage(PROVIDER, new Error('a refund cannot be read'));
    },
  };
}

function outcomeOf({
  pspReference,
  resultCode,
  refusalReason,
  refusalReasonCode,
  amount,
  action,
}: PaymentAnswer): ChargeOutcome {
  const providerPaymentId = pspReference ?? null;
  if (WAITS.has(resultCode))
    return {
      kind: 'answered',
      status: resultCode,
      paymentStatus: 'processing',
      providerPaymentId,
      ...(action ? { nextAction: { ...action } } : {}),
    };
  const state = paymentStatusOf(PROVIDER, resultCode);
  const isFailed = state === 'failed';
  // A refusal is no payment to which an event could still come with another outcome, but its id is known there.
  const code = refusalReasonCode ? `refused_${refusalReasonCode}` : resultCode;
  return {
    kind: 'answered',
    status: resultCode,
    paymentStatus: state === 'pending' ? 'processing' : state,
    providerPaymentId,
    ...(amount ? { received: receivedOf(amount) } : {}),
    ...(isFailed ? { error: { code, message: refusalReason ?? resultCode } } : {}),
  };
}

const receivedOf = ({ value, currency }: { value: number; currency: string }): Received => ({
  currency,
  amountCents: fromWire(ADYEN_WIRE, value, currency) ?? null,
});

/** What a page asks for: an amount, or 0 where only a method is stored. */
function linkOf({ providerCustomerId, successUrl, currency, payment }: PageRequest): object {
  const common = {
    returnUrl: successUrl,
    shopperReference: providerCustomerId,
    recurringProcessingModel: 'Subscription',
  };
  if (!payment)
    return {
      ...common,
      amount: { value: 0, currency: currency ?? SETUP_CURRENCY },
      reference: setupReference(providerCustomerId),
    };
  const amount = toWire(ADYEN_WIRE, payment.amountCents, payment.currency);
  if (!amount) throw new ProviderRefusal(notSupported(payment.currency).error);
  if (amount.wire === 0) throw new ProviderRefusal(TOO_SMALL);
  return {
    ...common,
    amount: { value: amount.wire, currency: payment.currency },
    reference: pageReference(payment.metadata),
    description: payment.description.slice(0, DESCRIPTION_MAX),
  };
}
