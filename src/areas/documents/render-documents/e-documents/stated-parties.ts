import type { DocumentFacts } from '../../../../engine/e-documents/facts.ts';
import { buyerFacts, type EInvoicing, type StoredParty, sellerFacts } from '../../../../engine/e-documents/parties.ts';
import { chooseProfile, type Profile } from '../../../../engine/e-documents/profiles.ts';
import type { InvoiceParts } from '../../../invoices/invoices/view.ts';
import { type PartyFacts, sellerAndBuyer } from '../party.ts';
import type { Printed } from '../printed-invoice.ts';
import type { DocumentSources, IssuerFacts } from './stated-records.ts';
import { isVatId } from './vat-id.ts';

/** Customer and billing entity of a document: as they were when it was issued, filled where something was missing. */
export interface StatedRecords {
  issuer: PartyFacts & IssuerFacts;
  payer: PartyFacts & PayerFacts;
}

interface PayerFacts {
  e_invoicing?: EInvoicing | null;
  e_document_profile?: Profile | null;
  metadata?: { key: string; value: string }[];
  shipping_address?: { city: string | null; zipcode: string | null; country: string | null };
  payment_provider?: string | null;
}

type Snapshot = Record<string, unknown>;

const isMissing = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** Frozen facts never change, but one that was missing may be filled later. */
function filled<Facts extends object>(frozen: Facts, now: object): Facts {
  const missing = Object.entries(now).filter(([key, value]) => {
    const before = (frozen as Snapshot)[key];
    return isMissing(before) && !isMissing(value);
  });
  return { ...frozen, ...Object.fromEntries(missing) };
}

const filledBoth = <Facts extends { e_invoicing?: EInvoicing | null }>(frozen: Facts, now: Facts): Facts => {
  const whole = filled(frozen, now);
  if (!frozen.e_invoicing || !now.e_invoicing) return whole;
  return { ...whole, e_invoicing: filled(frozen.e_invoicing, now.e_invoicing) };
};

/** The records behind the parties of a document; a plain document states only what was frozen. */
export function statedRecords(
  parts: InvoiceParts,
  printed: Printed,
  { sources, isPlain }: { sources: DocumentSources; isPlain: boolean },
): StatedRecords {
  const { invoice, customer: now } = parts;
  const [seller, buyer] = sellerAndBuyer(parts, printed);
  const [issuer, payer] = invoice.self_billed ? [buyer, seller] : [seller, buyer];
  if (isPlain) return { issuer, payer };
  const shippingNow = {
    city: now.shipping_city,
    zipcode: now.shipping_zipcode,
    country: now.shipping_country,
  };
  const { name: _issuer, ...issuerNow } = sources.issuer_now;
  const { name: _payer, ...payerNow } = now;
  return {
    issuer: filledBoth<StatedRecords['issuer']>(
      { ...issuer, bank_accounts: undefined, ...printed.issuer, name: issuer.name } as StatedRecords['issuer'],
      { ...issuerNow, name: issuer.name },
    ),
    payer: filledBoth<StatedRecords['payer']>(
      payer as StatedRecords['payer'],
      {
        ...payerNow,
        name: payer.name,
        shipping_address: shippingNow,
      } as StatedRecords['payer'],
    ),
  };
}

const stored = (party: PartyFacts & { e_invoicing?: EInvoicing | null }): StoredParty => ({
  ...party,
  e_invoicing: party.e_invoicing ?? null,
});

/** Seller and buyer of a document; in a self-billed one they change places. */
export function statedParties(
  { issuer, payer }: StatedRecords,
  { selfBilled, isOutsideVat }: { selfBilled: boolean; isOutsideVat: boolean },
): Pick<DocumentFacts, 'seller' | 'buyer'> {
  const [from, to] = selfBilled ? [payer, issuer] : [issuer, payer];
  const circumstances = { isVatNumber: isVatId, isOutsideVat };
  return { seller: sellerFacts(stored(from), circumstances), buyer: buyerFacts(stored(to), circumstances) };
}

/** The profile that customer, billing entity or the law of its country chose; null where none did. */
export const chosenProfile = ({ issuer, payer }: StatedRecords): Profile | null =>
  chooseProfile({
    customerProfile: payer.e_document_profile ?? null,
    entityProfile: issuer.e_document_profile ?? null,
    einvoicing: issuer.einvoicing ?? false,
    entityCountry: issuer.country,
    hasLeitwegId: payer.e_invoicing?.leitweg_id ?? false,
  });

/** BT-10 of a document: its own, else the customer's, else the one in the customer's metadata. */
export const buyerReferenceOf = ({ payer }: StatedRecords, own: string | null): string | null =>
  own ??
  payer.e_invoicing?.buyer_reference ??
  payer.metadata?.find(({ key }) => key === 'buyer_reference')?.value.trim() ??
  null;

/** BG-16: the account of the currency by transfer; where a provider collects, its terms say so. */
export function paymentOf(
  { issuer, payer }: StatedRecords,
  { number, currency, isOrdinary }: { number: string; currency: string; isOrdinary: boolean },
): DocumentFacts['payment'] {
  const accounts = issuer.bank_accounts ?? [];
  const account =
    accounts.find((each) => each.currency === currency) ?? accounts.find((each) => each.currency === null);
  if (isOrdinary && account) {
    const { iban: id, bic, holder } = account;
    return { code: currency === 'EUR' ? '58' : '30', reference: number, account: { id, bic, holder } };
  }
  // What is given back, what a customer bills itself, and what a provider charges names no account of the seller.
  return !isOrdinary || payer.payment_provider || accounts.length > 0 ? { code: '1', reference: number } : null;
}
