import type { DocumentFacts } from '../../../../engine/e-documents/facts.ts';
import { buyerFacts, type EInvoicing, type StoredParty, sellerFacts } from '../../../../engine/e-documents/parties.ts';
import { chooseProfile, type Profile } from '../../../../engine/e-documents/profiles.ts';
import { type PartyFacts, type Payer, sellerAndBuyer, shippingOf } from '../party.ts';
import type { Printed } from '../printed-invoice.ts';
import { type Charge, mandateOf } from './charge-of-invoice.ts';
import { filledFacts } from './filled-facts.ts';
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
  /** The provider that charged the customer on the day of issue. */
  payment_provider?: string | null;
}

/** The records behind the parties as they were frozen; as they are now for an invoice from before that. */
export function frozenRecords(parts: Payer, printed: Printed): StatedRecords {
  const [seller, buyer] = sellerAndBuyer(parts, printed);
  const [issuer, payer] = parts.invoice.self_billed ? [buyer, seller] : [seller, buyer];
  return { issuer, payer };
}

/** What a page prints, with the same facts filled as in the XML that it carries. */
export function filledPrinted(now: Payer['customer'], printed: Printed, issuerNow: Printed['issuer']): Printed {
  const { issuer, customer } = printed;
  return {
    ...printed,
    issuer: filledFacts(issuer, issuerNow),
    customer: customer && filledFacts(customer, { ...now, shipping_address: shippingOf(now) }),
  };
}

/** The records behind the parties of a document; a plain document states only what was frozen. */
export function statedRecords(
  parts: Payer,
  printed: Printed,
  { sources, isPlain }: { sources: Pick<DocumentSources, 'issuer_now'>; isPlain: boolean },
): StatedRecords {
  const { customer: now } = parts;
  const { issuer, payer } = frozenRecords(parts, printed);
  if (isPlain) return { issuer, payer };
  const frozenProvider = printed.customer?.billing_configuration?.payment_provider;
  return {
    issuer: filledFacts<StatedRecords['issuer']>({ ...printed.issuer, name: issuer.name }, sources.issuer_now),
    payer: {
      ...filledFacts<StatedRecords['payer']>(payer, { ...now, shipping_address: shippingOf(now) }),
      payment_provider: (printed.customer === null ? now.payment_provider : frozenProvider) ?? null,
    },
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

/** Whether a provider charges the customer for an invoice, instead of waiting for a transfer. */
export const isCharged = ({ payer }: StatedRecords, charge: Charge): boolean =>
  Boolean(payer.payment_provider) && !charge.is_manual;

/**
 * BG-16: by mandate where one is charged, as its terms say where a provider charges in another way, else by transfer to
 * the account of the currency.
 *
 * Rule: e-documents.md#facts "BG-16".
 */
export function paymentOf(
  records: StatedRecords,
  invoice: { number: string; currency: string; isOrdinary: boolean; charge: Charge },
): DocumentFacts['payment'] {
  const { issuer } = records;
  const { number: reference, currency, isOrdinary, charge } = invoice;
  const accounts = issuer.bank_accounts ?? [];
  // What is given back and what a customer bills itself names no account of the billing entity.
  if (!isOrdinary) return { code: '1', reference };
  if (isCharged(records, charge)) {
    const mandate = mandateOf(charge, currency);
    if (mandate === null) return { code: '1', reference };
    const creditorId = issuer.e_invoicing?.creditor_id ?? null;
    return { code: '59', reference, mandate: mandate.reference, creditorId, debitedAccount: mandate.last4 };
  }
  const account =
    accounts.find((each) => each.currency === currency) ?? accounts.find((each) => each.currency === null);
  if (account === undefined) return accounts.length > 0 ? { code: '1', reference } : null;
  const { iban: id, bic, holder } = account;
  return { code: currency === 'EUR' ? '58' : '30', reference, account: { id, bic, holder } };
}
