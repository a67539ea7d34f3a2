import type { Temporal } from 'temporal-polyfill';
import type { EInvoicing } from '../../../../engine/e-documents/parties.ts';
import type { Profile } from '../../../../engine/e-documents/profiles.ts';
import type { VatCategory } from '../../../../engine/invoices/vat-breakdown.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import type { InvoiceId, TaxId } from '../../../../platform/ids.ts';
import { issuerSnapshot } from '../../../customers/billing-entities/issuer-snapshot.ts';
import type { BankAccount } from '../../../customers/e-invoicing.ts';
import type { FeeRow } from '../../../invoices/fees/queries.ts';
import type { Printed } from '../printed-invoice.ts';
import { type Charge, type ChargeSources, chargeOf, chargeOfInvoice } from './charge-of-invoice.ts';

/** What a billing entity says about electronic documents; absent in snapshots from before there were any. */
export interface IssuerFacts {
  e_invoicing?: EInvoicing | null;
  e_document_profile?: Profile | null;
  einvoicing?: boolean;
  bank_accounts?: BankAccount[];
}

export interface TaxFacts {
  id: TaxId;
  vat_category: VatCategory | null;
  exemption_code: string | null;
  exemption_text: string | null;
  not_vat: boolean;
}

/** What an electronic document states beside what an invoice prints. */
export interface DocumentSources {
  /** The billing entity as it is now: for facts that were missing when the document was issued. */
  issuer_now: Printed['issuer'] & IssuerFacts;
  finalized_at: Temporal.Instant | null;
  /** Of the one-off invoice, else of its subscriptions. */
  buyer_reference: string | null;
  /** Payments received before the invoice was issued. */
  paid_before_cents: number;
  charge: Charge;
  taxes: ReadonlyMap<string, TaxFacts>;
  /** Codes of units by the metric or add-on of a fee. */
  units: ReadonlyMap<string, string>;
}

/** Reads the sources of an invoice's document, or of a note on it: three statements, whatever the number of fees. */
export async function readSources(
  scope: Scope,
  invoiceId: InvoiceId,
  fees: readonly FeeRow[],
): Promise<DocumentSources> {
  const [invoice, taxes, units] = await Promise.all([
    readInvoiceSources(scope, invoiceId),
    listTaxFacts(scope, fees),
    listUnits(scope, fees),
  ]);
  return {
    ...invoice,
    charge: chargeOf(invoice.charge),
    taxes: new Map(taxes.map((tax) => [tax.id, tax])),
    units: new Map(units.map(({ id, unit_code }) => [id, unit_code])),
  };
}

type InvoiceSources = Omit<DocumentSources, 'taxes' | 'units' | 'charge'> & { charge: ChargeSources };

/** What a document states of its invoice and its billing entity beside what is printed. */
export async function readInvoiceSources({ db, organizationId }: Scope, invoiceId: InvoiceId) {
  const [row] = await db<InvoiceSources[]>`
    select ${issuerSnapshot(db)} as issuer_now, invoice.finalized_at,
      coalesce(invoice.buyer_reference, (
        select subscription.buyer_reference from invoice_subscriptions link
        join subscriptions subscription on subscription.organization_id = link.organization_id
          and subscription.id = link.subscription_id
        where link.organization_id = invoice.organization_id and link.invoice_id = invoice.id
          and subscription.buyer_reference is not null
        order by subscription.created_at, subscription.id limit 1)) as buyer_reference,
      coalesce((
        select sum(share.amount_cents) from payment_invoices share
        join payments payment on payment.organization_id = share.organization_id and payment.id = share.payment_id
        where share.organization_id = invoice.organization_id and share.invoice_id = invoice.id
          and payment.payment_status = 'succeeded' and payment.created_at < invoice.finalized_at
      ), 0)::bigint as paid_before_cents,
      ${chargeOfInvoice(db)} as charge
    from invoices invoice
    join billing_entities entity on entity.organization_id = invoice.organization_id
      and entity.id = invoice.billing_entity_id
    where invoice.organization_id = ${organizationId} and invoice.id = ${invoiceId}`;
  return row!;
}

/** What sellers say about the taxes of some fees, deleted taxes too. */
const listTaxFacts = ({ db, organizationId }: Scope, fees: readonly FeeRow[]) => {
  const ids = fees.flatMap((fee) => fee.applied_taxes.map(({ tax_id }) => tax_id)).filter((id) => id !== null);
  return db<TaxFacts[]>`
    select id, vat_category, exemption_code, exemption_text, not_vat from taxes
    where organization_id = ${organizationId} and id = any (${[...new Set(ids)]}::uuid[])`;
};

const listUnits = ({ db, organizationId }: Scope, fees: readonly FeeRow[]) => {
  const ids = [...new Set(fees.map((fee) => fee.item_id))];
  return db<{ id: string; unit_code: string }[]>`
    select id, unit_code from billable_metrics
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and unit_code is not null
    union all
    select id, unit_code from add_ons
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and unit_code is not null`;
};
