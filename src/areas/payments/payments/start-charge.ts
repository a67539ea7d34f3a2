import type { Temporal } from 'temporal-polyfill';
import { toWire, type WireAmount } from '../../../engine/money/wire.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, InvoiceId, PaymentId, PaymentMethodId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { ProviderError } from '../../../platform/payments/port.ts';
import { isOverNetwork, wireOf } from '../../../platform/payments/providers.ts';
import { isUnknownOutcome } from '../../../platform/payments/refused.ts';
import type { MethodRow } from '../../customers/payment-methods/queries.ts';
import { findProviderById, type ProviderRow } from '../../customers/payment-providers/queries.ts';
import { isPaymentUnderWay } from './queries.ts';
import { changePayment, insertPayment } from './writes.ts';

/** Charges a payment at a sandbox connection: no network, so a step of its own transaction does it. */
export const CHARGE_STEP = 'charge-sandbox-payment';
/** Charges a payment over the network: a job outside any transaction; the payment's row is what is owed. */
export const CHARGE_JOB = 'payment.charge';

/** By what a customer pays: a stored method, or without one by transfer. */
export type WayToPay = Pick<MethodRow, 'payment_provider_id' | 'provider_customer_id'> & {
  /** Null: the customer transfers the money to an account that the provider names. */
  id: PaymentMethodId | null;
};

export interface Charge {
  customerId: CustomerId;
  payable: { type: 'Invoice' | 'PaymentRequest'; id: string };
  amountCents: number;
  currency: string;
  method: WayToPay;
  invoiceIds: readonly InvoiceId[];
}

interface UnderWay {
  id: PaymentId;
  payment_status: 'pending' | 'processing';
  error: ProviderError | null;
}

/**
 * Starts the charge of a payable that the transaction holds locked. A payment in progress is never doubled: one that is
 * on its way to the provider, or of which nobody knows what became, is left alone, also if it pays an invoice of the
 * payable by itself or together with others. One that took nothing, because the amount was too small, ends, and another
 * one with a key of its own follows. An amount below the provider's step is not charged.
 *
 * @returns whether a charge was started
 * Rules: payments.md#automatic-payment, payments.md#amounts-on-the-wire.
 */
export async function startCharge(ctx: Context, charge: Charge): Promise<boolean> {
  const { db, organizationId } = ctx;
  if (await isPaymentUnderWay(ctx, charge.invoiceIds, { besides: charge.payable.id })) return false;
  const provider = await findProviderById(ctx, charge.method.payment_provider_id);
  const { amountCents, wire } = onWire(provider, charge);
  const [underWay] = await db<UnderWay[]>`
    select id, payment_status, error from payments
    where organization_id = ${organizationId} and payable_type = ${charge.payable.type}
      and payable_id = ${charge.payable.id} and payment_type = 'provider'
      and payment_status in ('pending', 'processing')`;
  if (underWay) {
    const { id, payment_status: status, error } = underWay;
    if (status === 'processing' || error === null || isUnknownOutcome(error)) return false;
    await changePayment(ctx, id, { change: { payment_status: 'failed', status: 'canceled' }, now: ctx.now() });
  }
  const id = newId();
  const isNew = await insertPayment(ctx, {
    id,
    customerId: charge.customerId,
    payable: charge.payable,
    type: 'provider',
    amountCents,
    ...(wire ? { wire: { amount: wire.wire, currency: charge.currency } } : {}),
    currency: charge.currency,
    status: 'pending',
    paymentStatus: 'pending',
    provider: {
      id: charge.method.payment_provider_id,
      customerId: charge.method.provider_customer_id,
      methodId: charge.method.id,
      isTransfer: charge.method.id === null,
    },
    invoiceIds: charge.invoiceIds,
    createdAt: ctx.now(),
    now: ctx.now(),
  });
  if (isNew) await oweCharge(ctx, id, charge.method.payment_provider_id);
  return isNew;
}

/** The chargeable part of an amount; if that is zero, the whole amount, which the provider's driver refuses. */
function onWire(
  provider: ProviderRow | undefined,
  { amountCents, currency }: Charge,
): { amountCents: number; wire?: WireAmount } {
  if (!provider || !isOverNetwork(provider.provider_type)) return { amountCents };
  const wire = toWire(wireOf(provider.provider_type, provider.settings), amountCents, currency);
  return wire && wire.wire > 0 ? { amountCents: wire.chargedCents, wire } : { amountCents };
}

/** Owes the charge of a payment, at once or later. */
export async function oweCharge(
  ctx: Context,
  paymentId: PaymentId,
  providerId: string,
  dueAt?: Temporal.Instant,
): Promise<void> {
  const provider = await findProviderById(ctx, providerId);
  const payload = { payment_id: paymentId };
  if (provider && !isOverNetwork(provider.provider_type))
    ctx.after({ step: CHARGE_STEP, payload, ...(dueAt ? { dueAt } : {}) });
  else ctx.after({ nudge: CHARGE_JOB, payload });
}
