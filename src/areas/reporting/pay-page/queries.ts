import type { Temporal } from 'temporal-polyfill';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, DocumentId, InvoiceId, OrganizationId } from '../../../platform/ids.ts';
import type { ContractProvider } from '../../../platform/payments/contract-providers.ts';
import type { BankAccount } from '../../customers/e-invoicing.ts';
import { dueCents } from '../../invoices/invoices/amount-due.ts';
import type { Payable } from '../../messaging/mails/pay-link.ts';
import { isUnderWay } from '../../payments/payments/queries.ts';

/** Facts about a payable, its customer, issuer and connection that the page needs. */
export interface PayableRow {
  organization_id: OrganizationId;
  customer_id: CustomerId;
  /** Of a payment request; null of an invoice. */
  request_status: 'pending' | 'succeeded' | 'failed' | null;
  document_locale: string | null;
  zone: string;
  provider_customer_id: string | null;
  provider_payment_methods: string[];
  entity_name: string;
  entity_email: string | null;
  entity_logo: string | null;
  entity_locale: string;
  bank_accounts: BankAccount[];
  provider_type: string | null;
  emulates: ContractProvider | null;
  settings: Record<string, unknown> | null;
  secrets_last4: Record<string, string> | null;
  provider_deleted_at: Temporal.Instant | null;
  sandbox: boolean;
  /** The time of the organization's test clock. */
  frozen_time: Temporal.Instant | null;
}

/**
 * The payable of a signed token, which comes without a key and an organization; an invoice that is not final is not
 * found.
 */
export async function findPayable(db: Db, { type, id }: Payable): Promise<PayableRow | undefined> {
  const isInvoice = type === 'Invoice';
  const [row] = await db<PayableRow[]>`
    select payable.organization_id, payable.customer_id,
      ${isInvoice ? db`null` : db`payable.payment_status`} as request_status,
      customer.document_locale, coalesce(customer.timezone, entity.timezone) as zone, customer.provider_customer_id,
      customer.provider_payment_methods,
      coalesce(nullif(entity.legal_name, ''), entity.name) as entity_name, entity.email as entity_email,
      entity.logo_url as entity_logo, entity.document_locale as entity_locale, entity.bank_accounts,
      provider.provider_type, provider.emulates, provider.settings, provider.secrets_last4,
      provider.deleted_at as provider_deleted_at,
      organization.sandbox, clock.frozen_time
    from ${db(isInvoice ? 'invoices' : 'payment_requests')} payable
    join customers customer
      on customer.organization_id = payable.organization_id and customer.id = payable.customer_id
    join organizations organization on organization.id = payable.organization_id
    join billing_entities entity
      on entity.organization_id = payable.organization_id and entity.id = payable.billing_entity_id
    left join payment_providers provider
      on provider.organization_id = payable.organization_id and provider.id = customer.payment_provider_id
    left join test_clocks clock on clock.organization_id = payable.organization_id and organization.sandbox
    where payable.id = ${id}
      ${isInvoice ? db`and payable.status in ('finalized', 'voided')` : db``}`;
  return row;
}

/** An invoice on the page. */
export interface PaidInvoice {
  id: InvoiceId;
  number: string;
  currency: Currency;
  status: string;
  payment_status: 'pending' | 'succeeded' | 'failed';
  self_billed: boolean;
  issuing_date: Temporal.PlainDate;
  payment_due_date: Temporal.PlainDate;
  total_amount_cents: number;
  due_amount_cents: number;
  /** Its PDF, once it has been drawn. */
  document_id: DocumentId | null;
}

/** The invoices of a payable, oldest first. */
export const listPaidInvoices = ({ db, organizationId }: Scope, { type, id }: Payable) => db<PaidInvoice[]>`
  select invoice.id, invoice.number, invoice.currency, invoice.status, invoice.payment_status, invoice.self_billed,
    invoice.issuing_date, invoice.payment_due_date, invoice.total_amount_cents,
    ${dueCents(db, 'invoice')} as due_amount_cents, document.id as document_id
  from invoices invoice
  left join documents document
    on document.organization_id = invoice.organization_id and document.kind = 'invoice'
      and document.subject_id = invoice.id and document.content is not null
  where invoice.organization_id = ${organizationId} and ${
    type === 'Invoice'
      ? db`invoice.id = ${id}`
      : db`invoice.id in (select asked.invoice_id from payment_request_invoices asked
          where asked.organization_id = ${organizationId} and asked.payment_request_id = ${id})`
  }
  order by invoice.issuing_date, invoice.id`;

/** A payment of the invoices that is on its way, or the last one that arrived. */
export interface PaidBy {
  payment_status: 'pending' | 'processing' | 'succeeded';
  next_action: Record<string, unknown>;
  /** Day on which it is expected, of a bank debit. */
  expected_settlement_date: Temporal.PlainDate | null;
  /** Its receipt as a PDF, once it has been drawn. */
  receipt_document_id: DocumentId | null;
}

/** Payments of invoices that are on their way, then those that arrived, newest first; at most two are needed. */
export const listPaidBy = ({ db, organizationId }: Scope, invoiceIds: readonly InvoiceId[]) => db<PaidBy[]>`
  select payment.payment_status, payment.next_action, payment.expected_settlement_date,
    document.id as receipt_document_id
  from payments payment
  left join payment_receipts receipt
    on receipt.organization_id = payment.organization_id and receipt.payment_id = payment.id
  left join documents document
    on document.organization_id = receipt.organization_id and document.kind = 'payment_receipt'
      and document.subject_id = receipt.id and document.content is not null
  where payment.organization_id = ${organizationId}
    and payment.id in (select share.payment_id from payment_invoices share
      where share.organization_id = ${organizationId} and share.invoice_id = any (${invoiceIds}))
    and (payment.payment_status = 'succeeded' or ${isUnderWay(db)})
  order by payment.payment_status = 'succeeded', payment.created_at desc, payment.id desc limit 2`;
