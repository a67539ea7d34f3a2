import type { Temporal } from 'temporal-polyfill';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  CreditNoteId,
  CustomerId,
  InvoiceId,
  OrganizationId,
  PaymentReceiptId,
  WalletId,
} from '../../../platform/ids.ts';
import { dueCents } from '../../invoices/invoices/amount-due.ts';
import { isUnderWay } from '../../payments/payments/queries.ts';

/** Facts about a customer, its billing entity and its organization that the page needs. */
export interface PortalCustomer {
  id: CustomerId;
  organization_id: OrganizationId;
  external_id: string;
  name: string | null;
  legal_name: string | null;
  firstname: string | null;
  lastname: string | null;
  document_locale: string | null;
  /** Applicable zone. */
  zone: string;
  entity_name: string;
  entity_email: string | null;
  entity_logo: string | null;
  entity_locale: string;
  /** The metadata that documents print. */
  metadata: { key: string; value: string }[];
  sandbox: boolean;
  /** The time of the organization's test clock. */
  frozen_time: Temporal.Instant | null;
}

/** The live customer of a signed token, which comes without a key and an organization. */
export async function findPortalCustomer(db: Db, id: CustomerId): Promise<PortalCustomer | undefined> {
  const [row] = await db<PortalCustomer[]>`
    select customer.id, customer.organization_id, customer.external_id, customer.name, customer.legal_name,
      customer.firstname, customer.lastname, customer.document_locale,
      coalesce(customer.timezone, entity.timezone) as zone, coalesce(nullif(entity.legal_name, ''),
      entity.name) as entity_name,
      entity.email as entity_email, entity.logo_url as entity_logo, entity.document_locale as entity_locale,
      (select coalesce(jsonb_agg(jsonb_build_object('key', item.key, 'value', item.value) order by item.id), '[]')
       from customer_metadata item
       where item.organization_id = customer.organization_id and item.customer_id = customer.id
         and item.display_in_invoice) as metadata,
      organization.sandbox, clock.frozen_time
    from customers customer
    join organizations organization on organization.id = customer.organization_id
    join billing_entities entity
      on entity.organization_id = customer.organization_id and entity.id = customer.billing_entity_id
    left join test_clocks clock on clock.organization_id = customer.organization_id and organization.sandbox
    where customer.id = ${id} and customer.deleted_at is null`;
  return row;
}

/** Rows of a list, in the order in which they are shown. */
export interface Slice {
  limit: number;
  offset: number;
}

export interface PortalInvoice {
  id: InvoiceId;
  number: string;
  currency: Currency;
  issuing_date: Temporal.PlainDate;
  payment_due_date: Temporal.PlainDate;
  payment_status: 'pending' | 'succeeded' | 'failed';
  payment_overdue: boolean;
  total_amount_cents: number;
  due_amount_cents: number;
  /** The customer is paid by it, and owes nothing. */
  self_billed: boolean;
  /** A payment of it that is on its way, by itself or once the customer confirms it or transfers the money. */
  under_way: 'processing' | 'confirm' | 'transfer' | null;
  next_action: Record<string, unknown> | null;
  /** Day on which that payment is expected, of a bank debit. */
  expected_settlement_date: Temporal.PlainDate | null;
}

/** Final invoices of a customer, latest issued first. */
export const listPortalInvoices = ({ db, organizationId }: Scope, customerId: CustomerId, slice: Slice) => db<
  PortalInvoice[]
>`
  select invoice.id, invoice.number, invoice.currency, invoice.issuing_date, invoice.payment_due_date,
    invoice.payment_status, invoice.payment_overdue, invoice.total_amount_cents,
    ${dueCents(db, 'invoice')} as due_amount_cents, invoice.self_billed, under_way.kind as under_way,
    under_way.expected_settlement_date, under_way.next_action
  from invoices invoice
  left join lateral (
    select case when payment.next_action = '{}' then 'processing'
        when payment.next_action ? 'display_bank_transfer_instructions' then 'transfer' else 'confirm' end as kind,
      payment.expected_settlement_date, payment.next_action
    from payment_invoices share
    join payments payment
      on payment.organization_id = share.organization_id and payment.id = share.payment_id and ${isUnderWay(db)}
    where share.organization_id = invoice.organization_id and share.invoice_id = invoice.id
    order by payment.created_at desc, payment.id desc limit 1
  ) under_way on invoice.payment_status <> 'succeeded'
  where invoice.organization_id = ${organizationId} and invoice.customer_id = ${customerId}
    and invoice.status = 'finalized'
  order by invoice.issuing_date desc, invoice.created_at desc, invoice.id desc
  limit ${slice.limit} offset ${slice.offset}`;

export interface PortalCreditNote {
  id: CreditNoteId;
  number: string;
  invoice_number: string;
  currency: Currency;
  issuing_date: Temporal.PlainDate;
  total_amount_cents: number;
  /** The part of it that can still pay invoices. */
  balance_amount_cents: number;
}

/** Final credit notes of a customer, newest first. */
export const listPortalCreditNotes = ({ db, organizationId }: Scope, customerId: CustomerId, slice: Slice) => db<
  PortalCreditNote[]
>`
  select note.id, note.number, invoice.number as invoice_number, note.currency, note.issuing_date,
    note.total_amount_cents, case note.credit_status when 'available' then note.balance_amount_cents else 0 end
      as balance_amount_cents
  from credit_notes note
  join invoices invoice on invoice.organization_id = note.organization_id and invoice.id = note.invoice_id
  where note.organization_id = ${organizationId} and note.customer_id = ${customerId} and note.status = 'finalized'
  order by note.created_at desc, note.id desc
  limit ${slice.limit} offset ${slice.offset}`;

export interface PortalReceipt {
  id: PaymentReceiptId;
  number: string;
  amount_cents: number;
  amount_currency: Currency;
  created_at: Temporal.Instant;
}

/** Payment receipts of a customer, newest first. */
export const listPortalReceipts = ({ db, organizationId }: Scope, customerId: CustomerId, slice: Slice) => db<
  PortalReceipt[]
>`
  select receipt.id, receipt.number, payment.amount_cents, payment.amount_currency, receipt.created_at
  from payment_receipts receipt
  join payments payment on payment.organization_id = receipt.organization_id and payment.id = receipt.payment_id
  where receipt.organization_id = ${organizationId} and receipt.customer_id = ${customerId}
  order by receipt.created_at desc, receipt.id desc
  limit ${slice.limit} offset ${slice.offset}`;

export interface PortalWallet {
  id: WalletId;
  name: string | null;
  currency: Currency;
  credits_balance: Decimal;
  balance_cents: number;
  /** The balance less what is used and not paid yet. */
  ongoing_balance_cents: number;
  expiration_at: Temporal.Instant | null;
}

/** Active wallets of a customer, in the order in which they are used. */
export const listPortalWallets = ({ db, organizationId }: Scope, customerId: CustomerId, slice: Slice) => db<
  PortalWallet[]
>`
  select id, name, currency, credits_balance, balance_cents, ongoing_balance_cents, expiration_at from wallets
  where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'active'
  order by priority, created_at, id
  limit ${slice.limit} offset ${slice.offset}`;

/** Documents that the page hands out, by the segment of their address. */
export const PORTAL_DOCUMENTS = {
  invoices: 'invoice',
  credit_notes: 'credit_note',
  payment_receipts: 'payment_receipt',
} as const;
export type PortalDocuments = keyof typeof PORTAL_DOCUMENTS;

/** The number of a customer's document that the page lists; undefined for any other id. */
export async function findPortalNumber(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  { listed, id }: { listed: PortalDocuments; id: string },
): Promise<string | undefined> {
  const isFinal = listed === 'payment_receipts' ? db`` : db`and status = 'finalized'`;
  const [row] = await db<{ number: string }[]>`
    select number from ${db(listed)}
    where organization_id = ${organizationId} and customer_id = ${customerId} and id = ${id} ${isFinal}`;
  return row?.number;
}
