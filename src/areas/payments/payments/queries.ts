import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import { VISIBLE_INVOICE_STATUSES } from '../../../engine/invoices/invoice-states.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  CustomerId,
  ExternalCustomerId,
  InvoiceId,
  PaymentId,
  PaymentMethodId,
  PaymentProviderId,
  PaymentRequestId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords } from '../../../platform/lists/count.ts';
import { type Counted, limitOf, type Page, pageOf } from '../../../platform/lists/pagination.ts';
import type { ContractProvider } from '../../../platform/payments/contract-providers.ts';
import { UNKNOWN_OUTCOMES } from '../../../platform/payments/refused.ts';
import { refuse } from '../../../platform/refusal.ts';
import { liveCustomerId } from '../../customers/customers/queries.ts';
import type { PaymentStatus } from './payment-statuses.ts';

/** What a customer has brought back, and when by the real clock. */
export interface CustomerReturn {
  details: Record<string, string>;
  at: string;
}

/** A payment with the fields of customer, connection and invoices that its answer shows. */
export interface PaymentRow {
  id: PaymentId;
  customer_id: CustomerId;
  external_customer_id: ExternalCustomerId;
  payable_type: 'Invoice' | 'PaymentRequest';
  payable_id: string;
  payment_type: 'manual' | 'provider';
  amount_cents: number;
  amount_currency: string;
  /** The provider's own status. */
  status: string;
  payment_status: PaymentStatus;
  reference: string | null;
  payment_provider_id: PaymentProviderId | null;
  provider_type: ContractProvider | null;
  /** The type of the connection itself: `sandbox` for a double. */
  connection_type: string | null;
  provider_code: string | null;
  provider_payment_id: string | null;
  provider_customer_id: string | null;
  payment_method_id: PaymentMethodId | null;
  /** The customer transfers the money to an account that the provider names. */
  is_transfer: boolean;
  next_action: Record<string, unknown>;
  /** What its customer has brought back from the page of a bank, until the provider has answered it. */
  customer_return: CustomerReturn | null;
  error: { code: string; message: string } | null;
  charge_attempts: number;
  /** When it was first sent to its provider. */
  charged_at: Temporal.Instant | null;
  /** Day on which a bank debit is expected to be paid. */
  expected_settlement_date: Temporal.PlainDate | null;
  /** When that happened which the provider has reported last. */
  reported_at: Temporal.Instant | null;
  /** When money that had come in was taken back. */
  reversed_at: Temporal.Instant | null;
  /** Since when its cancellation at the provider is owed. */
  cancel_owed_at: Temporal.Instant | null;
  invoices: { id: InvoiceId; number: string }[];
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  payment.id, payment.customer_id, customer.external_id as external_customer_id, payment.payable_type,
    payment.payable_id,
  payment.payment_type, payment.amount_cents, payment.amount_currency, payment.status, payment.payment_status,
  payment.reference, payment.payment_provider_id,
  coalesce(provider.emulates, provider.provider_type) as provider_type, provider.provider_type as connection_type,
  provider.code as provider_code,
  payment.provider_payment_id, payment.provider_customer_id, payment.payment_method_id, payment.is_transfer,
  payment.next_action, payment.customer_return, payment.error, payment.charge_attempts, payment.charged_at,
  payment.cancel_owed_at, payment.created_at,
  payment.expected_settlement_date, payment.reported_at, payment.reversed_at,
  (select coalesce(json_agg(json_build_object('id', invoice.id, 'number', invoice.number) order by invoice.id), '[]')
   from payment_invoices share
   join invoices invoice on invoice.organization_id = share.organization_id and invoice.id = share.invoice_id
   where share.organization_id = payment.organization_id and share.payment_id = payment.id) as invoices`;

const tables = (db: Db, payments = db`payments payment`) => db`
  ${payments}
  join customers customer on customer.organization_id = payment.organization_id and customer.id = payment.customer_id
  left join payment_providers provider
    on provider.organization_id = payment.organization_id and provider.id = payment.payment_provider_id`;

// Payments of invoices that the API does not show are not shown either (payments.md#payment-object).
const shown = ({ db, organizationId }: Scope) => db`
  payment.organization_id = ${organizationId} and (payment.payable_type <> 'Invoice' or exists (
    select from invoices invoice where invoice.organization_id = payment.organization_id
      and invoice.id = payment.payable_id and invoice.status = any (${VISIBLE_INVOICE_STATUSES})))`;

/**
 * A payment by its provider's id, also of an invoice that the API does not show.
 *
 * @throws Refusal 404 payment
 */
export async function getPaymentAtProvider(scope: Scope, id: PaymentId): Promise<PaymentRow> {
  const [row] = isUuid(id) ? await listPaymentsByIds(scope, [id]) : [];
  if (!row) throw refuse.notFound('payment');
  return row;
}

/** @throws Refusal 404 payment */
export async function getPayment(scope: Scope, id: PaymentId): Promise<PaymentRow> {
  const { db } = scope;
  const [row] = isUuid(id)
    ? await db<PaymentRow[]>`
      select ${columns(db)} from ${tables(db)} where ${shown(scope)} and payment.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('payment');
  return row;
}

/** Payments by id, shown or not, for documents. */
export const listPaymentsByIds = ({ db, organizationId }: Scope, ids: readonly PaymentId[]) => db<PaymentRow[]>`
  select ${columns(db)} from ${tables(db, namedPayments(db, ids))} where payment.organization_id = ${organizationId}`;

/** Each by its key: Postgres would look for all of them among those of the organization, however many it has. */
const namedPayments = (db: Db, ids: readonly PaymentId[]) => db`
  unnest(${ids}::uuid[]) as named (id)
  cross join lateral (select * from payments where id = named.id offset 0) payment`;

export async function readPayment(scope: Scope, id: PaymentId): Promise<PaymentRow> {
  const [row] = await listPaymentsByIds(scope, [id]);
  assert(row, 'a payment that is referred to exists');
  return row;
}

export interface PaymentFilters {
  customerId?: CustomerId | undefined;
  externalCustomerId?: ExternalCustomerId | undefined;
  invoiceId?: InvoiceId | undefined;
  paymentStatuses?: readonly string[] | undefined;
  providerCodes?: readonly string[] | undefined;
  createdFrom?: Temporal.Instant | undefined;
  /** Exclusive. */
  createdTo?: Temporal.Instant | undefined;
}

/** A page of payments, newest first, and how many there are. Rule: payments.md#payment-object. */
export async function listPayments(
  scope: Scope,
  filters: PaymentFilters,
  page: Page,
): Promise<{ rows: readonly PaymentRow[]; total: Counted }> {
  const { db } = scope;
  const { limit, offset } = limitOf(page);
  const { customerId, externalCustomerId, invoiceId, paymentStatuses, providerCodes, createdFrom, createdTo } = filters;
  const passing = db`${shown(scope)}
    ${customerId === undefined ? db`` : db`and payment.customer_id = ${customerId}`}
    ${externalCustomerId === undefined ? db`` : db`and payment.customer_id = ${liveCustomerId(scope, externalCustomerId)}`}
    ${
      invoiceId === undefined
        ? db``
        : db`and exists (select from payment_invoices share where share.organization_id = payment.organization_id
            and share.payment_id = payment.id and share.invoice_id = ${invoiceId})`
    }
    ${paymentStatuses === undefined ? db`` : db`and payment.payment_status = any (${paymentStatuses})`}
    ${
      providerCodes === undefined
        ? db``
        : db`and payment.payment_provider_id = any (array(
          select id from payment_providers
          where organization_id = ${scope.organizationId} and code = any (${providerCodes})))`
    }
    ${createdFrom === undefined ? db`` : db`and payment.created_at >= ${createdFrom}`}
    ${createdTo === undefined ? db`` : db`and payment.created_at < ${createdTo}`}`;
  return pageOf(page, {
    rows: () => db<PaymentRow[]>`
      select ${columns(db)} from ${tables(db)}
      where payment.organization_id = ${scope.organizationId} and payment.id in (
        select payment.id from payments payment where ${passing}
        order by payment.created_at desc, payment.id desc
        limit ${limit} offset ${offset})
      order by payment.created_at desc, payment.id desc`,
    count: () => countRecords(db, db`payments payment where ${passing}`),
  });
}

/** The part of a payment that settles an invoice. */
export interface ShareRow {
  invoice_id: InvoiceId;
  invoice_number: string;
  issuing_date: Temporal.PlainDate;
  total_amount_cents: number;
  amount_cents: number;
}

/** The parts of a payment, oldest invoice first; at least one. */
export const listShares = ({ db, organizationId }: Scope, paymentId: PaymentId) => db<ShareRow[]>`
  select invoice.id as invoice_id, invoice.number as invoice_number, invoice.issuing_date, invoice.total_amount_cents,
    coalesce(share.amount_cents, 0) as amount_cents
  from payment_invoices share
  join invoices invoice on invoice.organization_id = share.organization_id and invoice.id = share.invoice_id
  where share.organization_id = ${organizationId} and share.payment_id = ${paymentId}
  order by invoice.issuing_date, invoice.id`;

/** Condition: a payment may still take money, or has taken it without our knowing, so that another is the second. */
export const isUnderWay = (db: Db): Fragment => db`(payment.payment_status = 'processing'
  or payment.payment_status = 'pending'
    and (payment.error is null or payment.error ->> 'code' = any (${UNKNOWN_OUTCOMES})))`;

/**
 * Condition: a transfer that waits for its customer, and may be ended. Of one of unknown outcome nobody knows which
 * amount it asks for.
 */
export const isOpenTransfer = (db: Db): Fragment => db`(payment.is_transfer
  and payment.payment_status in ('pending', 'processing')
  and coalesce(payment.error ->> 'code' <> all (${UNKNOWN_OUTCOMES}), true))`;

/**
 * Condition: a payment is of an invoice by itself, or of a request that was made before another one.
 *
 * @param requestId the other request; null: none counts as made before it, and every payment passes
 */
export const isBeforeRequest = (db: Db, requestId: PaymentRequestId | null): Fragment =>
  requestId === null
    ? db`true`
    : db`(payment.payable_type = 'Invoice' or exists (
        select from payment_requests earlier
        join payment_requests later on later.organization_id = earlier.organization_id and later.id = ${requestId}
        where earlier.organization_id = payment.organization_id and earlier.id = payment.payable_id
          and (earlier.created_at, earlier.id) < (later.created_at, later.id)))`;

/**
 * Whether a payment of one of some invoices, alone or together with others, is under way.
 *
 * besides   the payable whose own payments do not count
 * replacing the request that ends the transfers before it, which then do not count
 */
export async function isPaymentUnderWay(
  { db, organizationId }: Scope,
  invoiceIds: readonly InvoiceId[],
  { besides = null, replacing }: { besides?: string | null; replacing?: PaymentRequestId } = {},
): Promise<boolean> {
  const [found] = await db`
    select from payment_invoices share
    join payments payment on payment.organization_id = share.organization_id and payment.id = share.payment_id
    where share.organization_id = ${organizationId} and share.invoice_id = any (${invoiceIds}) and ${isUnderWay(db)}
      and payment.payable_id is distinct from ${besides}::uuid
      ${replacing === undefined ? db`` : db`and not (${isOpenTransfer(db)} and ${isBeforeRequest(db, replacing)})`}
    limit 1`;
  return found !== undefined;
}
