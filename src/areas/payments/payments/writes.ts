import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { columnValues } from '../../../platform/db/values.ts';
import type { CustomerId, InvoiceId, PaymentId, PaymentProviderId } from '../../../platform/ids.ts';
import type { PaymentStatus } from './payment-statuses.ts';

export interface NewPayment {
  id: PaymentId;
  customerId: CustomerId;
  payable: { type: 'Invoice' | 'PaymentRequest'; id: string };
  type: 'manual' | 'provider';
  amountCents: number;
  currency: string;
  /** The amount requested from the provider, in its own units. */
  wire?: { amount: number; currency: string };
  status: string;
  paymentStatus: PaymentStatus;
  reference?: string;
  provider?: { id: PaymentProviderId; customerId: CustomerId | null; methodId: string | null; isTransfer?: boolean };
  invoiceIds: readonly InvoiceId[];
  createdAt: Temporal.Instant;
  now: Temporal.Instant;
}

/**
 * Stores a payment and the invoices it is about. The database refuses a second provider payment in progress for the
 * same payable; then nothing is stored.
 *
 * @returns whether it was stored
 */
export async function insertPayment({ db, organizationId }: Scope, payment: NewPayment): Promise<boolean> {
  const { payable, provider } = payment;
  const inserted = await db`
    insert into payments (id, organization_id, customer_id, payable_type, payable_id, payment_type, amount_cents,
      amount_currency, wire_amount, wire_currency, status, payment_status, reference, payment_provider_id,
      provider_customer_id, payment_method_id, is_transfer,
      created_at, updated_at)
    values (${payment.id}, ${organizationId}, ${payment.customerId}, ${payable.type}, ${payable.id}, ${payment.type},
      ${payment.amountCents}, ${payment.currency}, ${payment.wire?.amount ?? null},
      ${payment.wire?.currency ?? null}, ${payment.status}, ${payment.paymentStatus},
      ${payment.reference ?? null}, ${provider?.id ?? null}, ${provider?.customerId ?? null},
      ${provider?.methodId ?? null}, ${provider?.isTransfer ?? false}, ${payment.createdAt}, ${payment.now})
    on conflict do nothing returning id`;
  if (inserted.length === 0) return false;
  await db`
    insert into payment_invoices (organization_id, payment_id, invoice_id)
    select ${organizationId}::uuid, ${payment.id}::uuid, invoice_id
    from unnest(${payment.invoiceIds}::uuid[]) as invoice_id`;
  return true;
}

/** Status of a payment that was given back as a whole because it was the second one of its invoice. */
export const GIVEN_BACK = 'refunded';

/** Changes of a payment while its provider works on it. */
export interface PaymentChange {
  status?: string;
  payment_status?: PaymentStatus;
  provider_payment_id?: string;
  next_action?: object;
  error?: object | null;
  charge_attempts?: number;
  charged_at?: Temporal.Instant;
  expected_settlement_date?: string;
  /** When that happened which the provider has reported last. */
  reported_at?: Temporal.Instant;
  reversed_at?: Temporal.Instant | null;
  cancel_owed_at?: Temporal.Instant;
}

export const changePayment = (
  { db, organizationId }: Scope,
  id: PaymentId,
  { change, now }: { change: PaymentChange; now: Temporal.Instant },
) => db`
  update payments set ${db(columnValues({ ...change, updated_at: now }))}
  where organization_id = ${organizationId} and id = ${id}`;

/** Stores the share of a payment that settles an invoice, and the invoice's paid total. */
export async function storeShare(
  { db, organizationId }: Scope,
  paymentId: PaymentId,
  { invoiceId, amountCents }: { invoiceId: InvoiceId; amountCents: number },
): Promise<number> {
  await db`
    update payment_invoices set amount_cents = ${amountCents}
    where organization_id = ${organizationId} and payment_id = ${paymentId} and invoice_id = ${invoiceId}`;
  const [row] = await db<{ paid: number }[]>`
    select coalesce(sum(share.amount_cents), 0)::bigint as paid from payment_invoices share
    join payments payment on payment.organization_id = share.organization_id and payment.id = share.payment_id
    where share.organization_id = ${organizationId} and share.invoice_id = ${invoiceId}
      and payment.payment_status = 'succeeded'`;
  return row!.paid;
}

/** Locks a customer and then some invoices, in the lock order of the service. */
export async function lockPayables(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  invoiceIds: readonly InvoiceId[],
): Promise<void> {
  await db`
    select from customers where organization_id = ${organizationId} and id = ${customerId} for no key update`;
  await db`
    select from invoices where organization_id = ${organizationId} and id = any (${invoiceIds})
    order by id for update`;
}
