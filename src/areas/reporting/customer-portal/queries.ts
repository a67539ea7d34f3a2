import type { Temporal } from 'temporal-polyfill';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  BillingEntityId,
  CreditNoteId,
  CustomerId,
  InvoiceId,
  OrganizationId,
  PaymentReceiptId,
  WalletId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import type { StoredSettings } from '../../customers/portal-settings/settings.ts';
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
  billing_entity_id: BillingEntityId;
  entity_code: string;
  entity_name: string;
  entity_email: string | null;
  entity_logo: string | null;
  entity_locale: string;
  /** What the billing entity has set of these pages. */
  settings: StoredSettings;
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
      coalesce(customer.timezone, entity.timezone) as zone, customer.billing_entity_id, entity.code as entity_code,
      coalesce(nullif(entity.legal_name, ''), entity.name) as entity_name,
      entity.email as entity_email, entity.logo_url as entity_logo, entity.document_locale as entity_locale,
      coalesce(portal.settings, '{}') as settings,
      (select coalesce(jsonb_agg(jsonb_build_object('key', item.key, 'value', item.value) order by item.id), '[]')
       from customer_metadata item
       where item.organization_id = customer.organization_id and item.customer_id = customer.id
         and item.display_in_invoice) as metadata,
      organization.sandbox, clock.frozen_time
    from customers customer
    join organizations organization on organization.id = customer.organization_id
    join billing_entities entity
      on entity.organization_id = customer.organization_id and entity.id = customer.billing_entity_id
    left join portal_settings portal
      on portal.organization_id = entity.organization_id and portal.billing_entity_id = entity.id
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
  written_off_cents: number;
  /** When the last payment of it was made that arrived. */
  paid_at: Temporal.Instant | null;
  /** The customer is paid by it, and owes nothing. */
  self_billed: boolean;
  /** A payment of it that is on its way, by itself or once the customer confirms it or transfers the money. */
  under_way: 'processing' | 'confirm' | 'transfer' | null;
  next_action: Record<string, unknown> | null;
  /** Day on which that payment is expected, of a bank debit. */
  expected_settlement_date: Temporal.PlainDate | null;
}

/** What may be paid of an invoice of a customer's list; undefined for any other id. */
export async function findPayableOfPortal(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  id: string,
): Promise<(Pick<PortalInvoice, 'id' | 'under_way'> & { is_to_pay: boolean }) | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db<(Pick<PortalInvoice, 'id' | 'under_way'> & { is_to_pay: boolean })[]>`
    select invoice.id, invoice.payment_status <> 'succeeded' and not invoice.self_billed
      and ${dueCents(db, 'invoice')} > 0 as is_to_pay,
      (select ${wayUnderWay(db)} from payment_invoices share
        join payments payment
          on payment.organization_id = share.organization_id and payment.id = share.payment_id and ${isUnderWay(db)}
        where share.organization_id = invoice.organization_id and share.invoice_id = invoice.id
        order by payment.created_at desc, payment.id desc limit 1) as under_way
    from invoices invoice
    where invoice.organization_id = ${organizationId} and invoice.customer_id = ${customerId}
      and invoice.id = ${id} and invoice.status = 'finalized'`;
  return row;
}

/** How a payment that is on its way goes on. */
const wayUnderWay = (db: Db): Fragment => db`
  case when payment.next_action = '{}' then 'processing'
    when payment.next_action ? 'display_bank_transfer_instructions' then 'transfer' else 'confirm' end`;

/** Which documents of a list are wanted: those of a year, those in a state. */
export interface Wanted {
  year: number | undefined;
  state: string | undefined;
}

export const INVOICE_STATES = ['open', 'overdue', 'paid'] as const;

const inState = (db: Db, state: string | undefined): Fragment => {
  if (state === 'paid') return db`and (invoice.payment_status = 'succeeded' or ${dueCents(db, 'invoice')} <= 0)`;
  if (state === 'overdue') return db`and invoice.payment_overdue`;
  if (state === 'open') return db`and invoice.payment_status <> 'succeeded' and ${dueCents(db, 'invoice')} > 0`;
  return db``;
};

const ofYear = (db: Db, column: string, year: number | undefined): Fragment =>
  year === undefined
    ? db``
    : db`and ${db(column)} >= ${`${year}-01-01`}::date and ${db(column)} < ${`${year + 1}-01-01`}::date`;

/** Final invoices of a customer, latest issued first. */
export const listPortalInvoices = (
  { db, organizationId }: Scope,
  customerId: CustomerId,
  slice: Slice,
  wanted: Wanted = { year: undefined, state: undefined },
) => db<PortalInvoice[]>`
  select invoice.id, invoice.number, invoice.currency, invoice.issuing_date, invoice.payment_due_date,
    invoice.payment_status, invoice.payment_overdue, invoice.total_amount_cents,
    ${dueCents(db, 'invoice')} as due_amount_cents, invoice.total_written_off_amount_cents as written_off_cents,
    (select max(payment.created_at) from payment_invoices share
      join payments payment on payment.organization_id = share.organization_id and payment.id = share.payment_id
        and payment.payment_status = 'succeeded'
      where share.organization_id = invoice.organization_id and share.invoice_id = invoice.id) as paid_at,
    invoice.self_billed, under_way.kind as under_way,
    under_way.expected_settlement_date, under_way.next_action
  from invoices invoice
  left join lateral (
    select ${wayUnderWay(db)} as kind,
      payment.expected_settlement_date, payment.next_action
    from payment_invoices share
    join payments payment
      on payment.organization_id = share.organization_id and payment.id = share.payment_id and ${isUnderWay(db)}
    where share.organization_id = invoice.organization_id and share.invoice_id = invoice.id
    order by payment.created_at desc, payment.id desc limit 1
  ) under_way on invoice.payment_status <> 'succeeded'
  where invoice.organization_id = ${organizationId} and invoice.customer_id = ${customerId}
    and invoice.status = 'finalized' ${inState(db, wanted.state)} ${ofYear(db, 'invoice.issuing_date', wanted.year)}
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
  credit_amount_cents: number;
  refund_amount_cents: number;
  credit_status: 'available' | 'consumed' | 'voided';
  refund_status: 'pending' | 'succeeded' | 'failed' | null;
}

/** Final credit notes of a customer, newest first. */
export const listPortalCreditNotes = (
  { db, organizationId }: Scope,
  customerId: CustomerId,
  slice: Slice,
  year?: number,
) => db<PortalCreditNote[]>`
  select note.id, note.number, invoice.number as invoice_number, note.currency, note.issuing_date,
    note.total_amount_cents, case note.credit_status when 'available' then note.balance_amount_cents else 0 end
      as balance_amount_cents, note.credit_amount_cents, note.refund_amount_cents, note.credit_status,
    note.refund_status
  from credit_notes note
  join invoices invoice on invoice.organization_id = note.organization_id and invoice.id = note.invoice_id
  where note.organization_id = ${organizationId} and note.customer_id = ${customerId} and note.status = 'finalized'
    ${ofYear(db, 'note.issuing_date', year)}
  order by note.created_at desc, note.id desc
  limit ${slice.limit} offset ${slice.offset}`;

export interface PortalReceipt {
  id: PaymentReceiptId;
  number: string;
  amount_cents: number;
  amount_currency: Currency;
  created_at: Temporal.Instant;
  /** Numbers of the invoices that it paid. */
  invoice_numbers: string[];
  /** The stored method that was charged, null otherwise. */
  method: { method_type: string; details: Record<string, string> } | null;
  payment_type: 'manual' | 'provider';
}

/** Payment receipts of a customer, newest first. */
export const listPortalReceipts = (
  { db, organizationId }: Scope,
  customerId: CustomerId,
  slice: Slice,
  { year, zone }: { year?: number | undefined; zone: string },
) => db<PortalReceipt[]>`
  select receipt.id, receipt.number, payment.amount_cents, payment.amount_currency, receipt.created_at,
    payment.payment_type, case when method.id is not null then
      jsonb_build_object('method_type', method.method_type, 'details', method.details) end as method,
    array(select invoice.number from payment_invoices share
      join invoices invoice on invoice.organization_id = share.organization_id and invoice.id = share.invoice_id
      where share.organization_id = receipt.organization_id and share.payment_id = receipt.payment_id
      order by invoice.issuing_date, invoice.id limit 3) as invoice_numbers
  from payment_receipts receipt
  join payments payment on payment.organization_id = receipt.organization_id and payment.id = receipt.payment_id
  left join payment_methods method
    on method.organization_id = payment.organization_id and method.id = payment.payment_method_id
  where receipt.organization_id = ${organizationId} and receipt.customer_id = ${customerId}
    ${year === undefined ? db`` : db`and receipt.created_at >= (${`${year}-01-01`}::date)::timestamp at time zone ${zone} and receipt.created_at < (${`${year + 1}-01-01`}::date)::timestamp at time zone ${zone}`}
  order by receipt.created_at desc, receipt.id desc
  limit ${slice.limit} offset ${slice.offset}`;

export interface PortalWallet {
  id: WalletId;
  name: string | null;
  currency: Currency;
  /** The credits less what is used and not paid yet. */
  credits_ongoing_balance: Decimal;
  balance_cents: number;
  /** The balance less what is used and not paid yet. */
  ongoing_balance_cents: number;
  status: 'active' | 'terminated';
  expiration_at: Temporal.Instant | null;
}

/** Active wallets of a customer, in the order in which they are used. */
export const listPortalWallets = ({ db, organizationId }: Scope, customerId: CustomerId, slice: Slice) => db<
  PortalWallet[]
>`
  select id, name, currency, credits_ongoing_balance, balance_cents, ongoing_balance_cents, status, expiration_at
  from wallets
  where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'active'
  order by priority, created_at, id
  limit ${slice.limit} offset ${slice.offset}`;

/** What a customer has overdue with one issuer in one currency; what it issues itself is left out. */
export interface OverdueGroup {
  currency: Currency;
  billing_entity_code: string;
  amount_cents: number;
  invoices: number;
}

export const listOverdueGroups = ({ db, organizationId }: Scope, customerId: CustomerId) => db<OverdueGroup[]>`
  select invoice.currency, entity.code as billing_entity_code, sum(${dueCents(db, 'invoice')})::bigint as amount_cents,
    count(*)::int as invoices
  from invoices invoice
  join billing_entities entity
    on entity.organization_id = invoice.organization_id and entity.id = invoice.billing_entity_id
  where invoice.organization_id = ${organizationId} and invoice.customer_id = ${customerId}
    and invoice.status = 'finalized' and invoice.payment_status <> 'succeeded' and invoice.payment_overdue
    and not invoice.self_billed and ${dueCents(db, 'invoice')} > 0
  group by invoice.currency, entity.code, entity.created_at
  order by invoice.currency, entity.created_at, entity.code`;

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
