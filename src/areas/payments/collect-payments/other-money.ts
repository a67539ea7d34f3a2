import type { Context } from '../../../platform/context.ts';
import type { PaymentId } from '../../../platform/ids.ts';
import type { ChargeOutcome, Received } from '../../../platform/payments/port.ts';
import type { ProviderRow } from '../../customers/payment-providers/queries.ts';
import type { PaymentChange } from '../../invoices/announcements.ts';
import { getRequest } from '../payment-requests/queries.ts';
import { setRequestStatus } from '../payment-requests/set-request-status.ts';
import { endToChargeAgain } from '../payments/give-up-payments.ts';
import type { PaymentRow } from '../payments/queries.ts';
import { changePayment } from '../payments/writes.ts';
import { type DriftKind, type Figures, type FoundDrift, OF_MONEY } from '../provider-drifts/drift-kinds.ts';
import { noteDrift } from '../provider-drifts/writes.ts';
import { applyAnswer } from './apply-outcome.ts';

/**
 * What differs between received money and what was asked for; no amount: any that we can have asked for will do. Of
 * what the provider leaves out nothing is said: an amount alone counts in the currency that was asked for.
 *
 *   asked EUR 1200: received 500 without a currency → amount_differs
 *   asked EUR 1200: received USD without an amount  → currency_differs
 *
 * Rule: payments.md#amounts-on-the-wire "back".
 */
export function differenceOf(
  { received }: { received?: Received | undefined },
  currency: string,
  amountCents?: number,
): DriftKind | undefined {
  const { currency: currencyThere = currency, amountCents: there } = received ?? {};
  if (currencyThere !== currency) return 'currency_differs';
  if (there === undefined) return undefined;
  const isOther = there === null || (amountCents ?? there) !== there;
  return isOther ? 'amount_differs' : undefined;
}

/** Other money than was asked for settles nothing: a person has to look. */
export async function noteOtherMoney(
  ctx: Context,
  provider: ProviderRow,
  { providerPaymentId: objectId, status, received }: { providerPaymentId: string; status: string; received?: Received },
  about: Pick<FoundDrift, 'kind' | 'ours' | 'paymentId' | 'customerId'>,
): Promise<undefined> {
  await noteDrift(ctx, provider.id, { objectId, theirs: { status, ...receivedFigures(received) }, ...about });
}

/** What a provider says of received money, as a drift keeps it: what it leaves out is left out. */
export const receivedFigures = ({
  amountCents,
  currency,
}: Received = {}): Pick<Figures, 'amount_cents' | 'currency'> => ({
  ...(amountCents === undefined ? {} : { amount_cents: amountCents }),
  ...(currency === undefined ? {} : { currency }),
});

/** A payment as it is compared with what its provider says of it. */
export const figuresOf = ({ payment_status, amount_cents, amount_currency }: PaymentRow) => ({
  status: payment_status,
  amount_cents,
  currency: amount_currency,
});

/**
 * Brings a payment to the state that its provider answers, of a charge or when it is asked, unless the answer tells of
 * other money than was charged: the payment is then left under way. The payment is locked.
 * Rule: payments.md#amounts-on-the-wire "back".
 */
export async function applyComparedAnswer(
  ctx: Context,
  provider: ProviderRow,
  payment: PaymentRow,
  { answer, ...options }: { answer: Extract<ChargeOutcome, { kind: 'answered' }> } & Parameters<typeof applyAnswer>[3],
): Promise<void> {
  const { paymentStatus, providerPaymentId, received } = answer;
  const isPaid = paymentStatus === 'succeeded' && providerPaymentId !== null;
  const kind = isPaid ? differenceOf({ received }, payment.amount_currency, payment.amount_cents) : undefined;
  if (!kind) return applyAnswer(ctx, payment, answer, options);
  const told = { ...answer, providerPaymentId: providerPaymentId! };
  const ours = figuresOf(payment);
  await noteOtherMoney(ctx, provider, told, { kind, ours, paymentId: payment.id, customerId: payment.customer_id });
  if (payment.payment_status === 'pending')
    return applyAnswer(ctx, payment, { ...answer, paymentStatus: 'processing' }, options);
  // One that was given up meanwhile: what is owed for it, or comes later, is found by its id there.
  if (payment.provider_payment_id === null)
    await changePayment(ctx, payment.id, { change: { provider_payment_id: providerPaymentId! }, now: ctx.now() });
}

/**
 * Ends the payments under way of an invoice of which their provider has told other money, once a person has resolved
 * the difference: here, and at the provider as far as they are open there. A person who then sets the invoice to
 * `failed` has looked, so it may be charged again; one that was paid otherwise asks for nothing more. While the
 * difference is open nothing ends by it. The invoice is locked.
 *
 * Rule: payments.md#unknown-outcomes.
 */
export async function endOtherMoney(ctx: Context, { invoice, status }: PaymentChange): Promise<void> {
  if (status === 'pending') return;
  const { db, organizationId } = ctx;
  const resolved = await db<{ id: PaymentId; payable_type: string; payable_id: string }[]>`
    select payment.id, payment.payable_type, payment.payable_id from payments payment
    where payment.organization_id = ${organizationId} and payment.payment_status = 'processing'
      and payment.id in (select share.payment_id from payment_invoices share
        where share.organization_id = ${organizationId} and share.invoice_id = ${invoice.id})
      and (select bool_and(drift.status = 'resolved') from provider_drifts drift
        where drift.organization_id = ${organizationId} and drift.payment_id = payment.id
          and drift.provider_object_id = payment.provider_payment_id and drift.kind = any (${OF_MONEY})
          and drift.status in ('open', 'resolved'))`;
  await endToChargeAgain(
    ctx,
    resolved.map(({ id }) => id),
  );
  for (const { payable_type, payable_id } of resolved)
    if (payable_type === 'PaymentRequest') await setRequestStatus(ctx, await getRequest(ctx, payable_id), 'failed');
}
