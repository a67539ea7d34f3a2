import { hasCheckDigit } from '../card-numbers.ts';
import type { ChargeOutcome, ProviderError } from '../port.ts';
import { notSupported } from '../refused.ts';
import { refundWordOf, wordOf } from '../status-words.ts';
import { DAYS_TO_CONFIRM } from '../unconfirmed.ts';
import { isTransferredIn } from '../unstored-kinds.ts';

/** The behaviour of a test method when charged. Rule: provider-connections.md#sandbox-provider. */
export type SandboxBehaviour =
  | { does: 'succeed' }
  | { does: 'refuse'; code: string; attempts?: number }
  | { does: 'ask' }
  /** No method: the customer transfers the money. */
  | { does: 'be_transferred' }
  | { does: 'wait'; seconds: number; ends: 'succeeded' | 'failed'; returnedAfterSeconds?: number }
  | { does: 'dispute'; isLost: boolean }
  | { does: 'refund_late'; ends: 'succeeded' | 'failed' }
  | { does: 'break'; attempts: number }
  | { does: 'throttle' };

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const CARDS: Readonly<Record<string, SandboxBehaviour>> = {
  '4242424242424242': { does: 'succeed' },
  '5555555555554444': { does: 'succeed' },
  '4000000000000002': { does: 'refuse', code: 'card_declined' },
  '4000000000009995': { does: 'refuse', code: 'insufficient_funds' },
  '4000000000000069': { does: 'refuse', code: 'expired_card' },
  '4000000000000119': { does: 'refuse', code: 'processing_error', attempts: 1 },
  '4000000000000341': { does: 'refuse', code: 'card_declined' },
  '4000000000003220': { does: 'ask' },
  '4000000000000077': { does: 'wait', seconds: 5 * MINUTE, ends: 'succeeded' },
  '4000000000004954': { does: 'wait', seconds: 5 * MINUTE, ends: 'failed' },
  '4000000000000259': { does: 'dispute', isLost: true },
  '4000000000001976': { does: 'dispute', isLost: false },
  '4000000000005126': { does: 'refund_late', ends: 'failed' },
  '4000000000007726': { does: 'refund_late', ends: 'succeeded' },
  '4000000000006975': { does: 'break', attempts: 2 },
  '4000000000009987': { does: 'throttle' },
};

const DEBITS: Readonly<Record<string, SandboxBehaviour>> = {
  DE89370400440532013000: { does: 'wait', seconds: 3 * DAY, ends: 'succeeded' },
  DE62370400440532013001: { does: 'wait', seconds: 3 * DAY, ends: 'failed' },
  DE35370400440532013002: { does: 'wait', seconds: 3 * DAY, ends: 'succeeded', returnedAfterSeconds: 5 * DAY },
};

/** A test card or bank account; undefined for any other number. */
export function sandboxMethodOf(input: {
  card_number?: string | null | undefined;
  iban?: string | null | undefined;
}): { type: 'card' | 'sepa_debit'; last4: string; behaviour: SandboxBehaviour } | undefined {
  const number = (input.card_number ?? input.iban ?? '').replaceAll(/\s/g, '').toUpperCase();
  const isCard = input.card_number !== undefined && input.card_number !== null;
  const behaviour = (isCard ? CARDS : DEBITS)[number];
  return behaviour && { type: isCard ? 'card' : 'sepa_debit', last4: number.slice(-4), behaviour };
}

/** A card number with a valid check digit (Luhn) that is not a test card, so probably a real one. */
export function isRealCard(given: string): boolean {
  const number = given.replaceAll(/[\s-]/g, '');
  return /^\d{12,19}$/.test(number) && !Object.hasOwn(CARDS, number) && hasCheckDigit(number);
}

/** Something that the provider reports later, on the organization's clock. */
export type LaterEvent = { afterSeconds: number } & (
  | { tells: 'payment'; type: string; status: string }
  | { tells: 'dispute'; type: string; isLost: boolean }
  /** Nobody has confirmed the charge until then. */
  | { tells: 'expiry'; type: string; status: string }
);

const SMALLEST_AMOUNT_CENTS = 50;
const DISPUTE_CLOSED_AFTER = 24 * HOUR;

/**
 * The results of a charge, at once and later: decided by the method alone, so the same sequence always ends the same
 * way.
 *
 * @param attempt number of this charge of its payable, from 1
 * @param tries how often this charge was sent, from 1
 * Rule: provider-connections.md#sandbox-provider.
 */
export function sandboxCharge(charge: {
  emulates: string;
  behaviour: SandboxBehaviour;
  amountCents: number;
  currency: string;
  attempt: number;
  tries: number;
  providerPaymentId: string;
}): { outcome: ChargeOutcome; later: LaterEvent[] } {
  const { emulates, behaviour, providerPaymentId } = charge;
  const answered = (paymentStatus: 'processing' | 'succeeded' | 'failed', extra: object = {}): ChargeOutcome => ({
    kind: 'answered',
    status: wordOf(emulates, paymentStatus),
    paymentStatus,
    providerPaymentId,
    ...extra,
  });
  const now = (outcome: ChargeOutcome) => ({ outcome, later: [] });
  if (charge.amountCents < SMALLEST_AMOUNT_CENTS)
    return now({ kind: 'amount_too_small', error: fault('amount_too_small') });
  switch (behaviour.does) {
    case 'refuse':
      return behaviour.attempts !== undefined && charge.attempt > behaviour.attempts
        ? now(answered('succeeded'))
        : now(answered('failed', { error: fault(behaviour.code) }));
    case 'ask':
      return {
        outcome: answered('processing', {
          ...(emulates === 'stripe' ? { status: 'requires_action' } : {}),
          nextAction: { type: 'sandbox_confirm', confirm_path: '/sandbox/payments/{svc_id}/confirm' },
        }),
        later: [
          {
            tells: 'expiry',
            type: 'payment_intent.canceled',
            status: emulates === 'stripe' ? 'canceled' : wordOf(emulates, 'failed'),
            afterSeconds: DAYS_TO_CONFIRM * DAY,
          },
        ],
      };
    case 'be_transferred':
      return now(
        isTransferredIn(charge.currency)
          ? answered('processing', {
              ...(emulates === 'stripe' ? { status: 'requires_action' } : {}),
              nextAction: bankTransfer(charge),
            })
          : notSupported(charge.currency),
      );
    case 'wait':
      return {
        outcome: answered('processing'),
        later: [
          paymentEvent(emulates, behaviour.ends, behaviour.seconds),
          ...(behaviour.returnedAfterSeconds === undefined
            ? []
            : [{ ...paymentEvent(emulates, 'failed', behaviour.returnedAfterSeconds), type: 'payment.charged_back' }]),
        ],
      };
    case 'dispute':
      return {
        outcome: answered('succeeded'),
        later: [
          {
            tells: 'dispute',
            type: 'charge.dispute.closed',
            isLost: behaviour.isLost,
            afterSeconds: DISPUTE_CLOSED_AFTER,
          },
        ],
      };
    case 'break':
      return now(
        charge.tries <= behaviour.attempts
          ? { kind: 'unreachable', error: fault('network_error') }
          : answered('succeeded'),
      );
    case 'throttle':
      return now({ kind: 'unreachable', error: fault('rate_limit') });
    default:
      return now(answered('succeeded'));
  }
}

/**
 * The account to which the customer of a sandbox would transfer: no bank has it, and `confirm_path` plays the transfer.
 */
const bankTransfer = ({
  providerPaymentId,
  amountCents,
  currency,
}: {
  providerPaymentId: string;
  amountCents: number;
  currency: string;
}) => ({
  type: 'display_bank_transfer_instructions',
  confirm_path: '/sandbox/payments/{svc_id}/confirm',
  display_bank_transfer_instructions: {
    amount_remaining: amountCents,
    currency: currency.toLowerCase(),
    reference: providerPaymentId.slice(-REFERENCE_LETTERS).toUpperCase(),
    financial_addresses: [
      { type: 'iban', iban: { account_holder_name: 'Sandbox', bic: 'SANDBOXX', country: 'DE', iban: SANDBOX_IBAN } },
    ],
    hosted_instructions_url: null,
  },
});

/** With a wrong check sum, so that no bank takes a transfer to it. */
const SANDBOX_IBAN = 'DE00000000000000000000';
const REFERENCE_LETTERS = 12;

/**
 * Why an amount is not authorized on a test method; undefined if it is. Later effects of a charge do not count here.
 */
export function sandboxAuthorization(
  methodType: string,
  behaviour: SandboxBehaviour,
  amountCents: number,
): ProviderError | undefined {
  if (amountCents < SMALLEST_AMOUNT_CENTS) return fault('amount_too_small');
  if (methodType !== 'card') return fault('payment_method_not_available');
  if (behaviour.does === 'refuse') return fault(behaviour.code);
  if (behaviour.does === 'ask') return fault('authentication_required');
  if (behaviour.does === 'break') return fault('network_error');
  return behaviour.does === 'throttle' ? fault('rate_limit') : undefined;
}

/**
 * The results of a refund, at once and later, in the terms of the emulated provider.
 * Rule: provider-connections.md#sandbox-provider.
 */
export const sandboxRefund = (
  emulates: string,
  behaviour: SandboxBehaviour,
): { status: string; later?: { status: string; afterSeconds: number } } =>
  behaviour.does === 'refund_late'
    ? {
        status: refundWordOf(emulates, 'pending'),
        later: { status: refundWordOf(emulates, behaviour.ends), afterSeconds: 5 * MINUTE },
      }
    : { status: refundWordOf(emulates, 'succeeded') };

const paymentEvent = (emulates: string, status: 'succeeded' | 'failed', afterSeconds: number): LaterEvent => ({
  tells: 'payment',
  type: status === 'succeeded' ? 'payment_intent.succeeded' : 'payment_intent.payment_failed',
  status: wordOf(emulates, status),
  afterSeconds,
});

const MESSAGES: Readonly<Record<string, string>> = {
  card_declined: 'Your card was declined.',
  insufficient_funds: 'Your card has insufficient funds.',
  expired_card: 'Your card has expired.',
  processing_error: 'An error occurred while processing your card.',
  amount_too_small: 'The amount is below the minimum of the provider.',
  network_error: 'The provider could not be reached.',
  rate_limit: 'Too many requests.',
  authentication_required: 'The customer has to confirm.',
  payment_method_not_available: 'Only cards can be authorized.',
};

const fault = (code: string): ProviderError => ({ code, message: MESSAGES[code] ?? code });
