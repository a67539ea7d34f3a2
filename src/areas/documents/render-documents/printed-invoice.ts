import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import type { PostalAddress } from '../../../platform/postal-address.ts';
import { issuerSnapshot } from '../../customers/billing-entities/issuer-snapshot.ts';
import type { PartyFacts } from './party.ts';

/** Frozen with the invoice; the current ones for an invoice from before they were frozen. */
export interface Printed {
  issuer: PartyFacts & { legal_name: string | null; invoice_footer: string | null; document_locale: string };
  customer: (Omit<PartyFacts, 'name'> & CustomerNames) | null;
  logo_url: string | null;
  customer_locale: string | null;
}

interface CustomerNames {
  name: string | null;
  legal_name: string | null;
  firstname: string | null;
  lastname: string | null;
  external_id: string;
  shipping_address: PostalAddress;
  metadata: { key: string; value: string; display_in_invoice: boolean }[];
  billing_configuration?: { payment_provider?: string };
}

/** What an invoice prints beside its figures, with its parties as they were when it was finalized. */
export async function readPrinted({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<Printed> {
  const [row] = await db<Printed[]>`
    select coalesce(invoice.issuer_snapshot, ${issuerSnapshot(db)}) as issuer, invoice.customer_snapshot as customer,
      entity.logo_url, customer.document_locale as customer_locale
    from invoices invoice
    join billing_entities entity on entity.organization_id = invoice.organization_id
      and entity.id = invoice.billing_entity_id
    join customers customer on customer.organization_id = invoice.organization_id and customer.id = invoice.customer_id
    where invoice.organization_id = ${organizationId} and invoice.id = ${invoiceId}`;
  return row!;
}

/** A payment of an invoice with the day on which it arrived. */
export interface PaidPart {
  created_at: Temporal.Instant;
  amount_cents: number;
}

/** Payments of an invoice, oldest first. */
export const listPaidParts = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<PaidPart[]>`
  select payment.created_at, share.amount_cents
  from payment_invoices share
  join payments payment on payment.organization_id = share.organization_id and payment.id = share.payment_id
  where share.organization_id = ${organizationId} and share.invoice_id = ${invoiceId}
    and payment.payment_status = 'succeeded' and share.amount_cents > 0
  order by payment.created_at, payment.id`;
