import type { Temporal } from 'temporal-polyfill';
import type { VatCategory } from '../invoices/vat-breakdown.ts';
import type { Currency } from '../money/currency.ts';
import type { Decimal } from '../money/decimal.ts';
import type { ElectronicAddress } from './electronic-address.ts';
import type { Profile } from './profiles.ts';

/**
 * Contents of an electronic invoice or credit note, whatever its syntax, in the terms of EN 16931 (BT: one term, BG: a
 * group of them). Amounts are in the currency's smallest unit; a text is null where there is none, never blank.
 */
export interface DocumentFacts {
  profile: Profile;
  kind: 'Invoice' | 'CreditNote';
  /** UNTDID 1001: 380 invoice, 389 self-billed invoice, 381 credit note, 261 self-billed credit note. */
  typeCode: '380' | '389' | '381' | '261';
  number: string;
  issuedOn: Temporal.PlainDate;
  dueOn: Temporal.PlainDate | null;
  currency: Currency;
  /** BT-22. */
  note: string | null;
  /** BT-10: what the buyer asks to be named, such as a Leitweg-ID. */
  buyerReference: string | null;
  /** BT-13. */
  orderNumber: string | null;
  /** BG-3: the invoices that a note corrects. */
  preceding: readonly { number: string; issuedOn: Temporal.PlainDate | null }[];
  /** BG-14. */
  period: DayRange | null;
  seller: SellerFacts;
  buyer: DocumentParty;
  /** BG-15: where goods were delivered. */
  delivery: Pick<DocumentParty, 'city' | 'zipcode' | 'country'> | null;
  /** BG-16. */
  payment: PaymentFacts | null;
  /** BT-20. */
  terms: string | null;
  lines: readonly LineFacts[];
  /** BG-20 and BG-21. */
  allowances: readonly AllowanceFacts[];
  /** BG-23. */
  vat: readonly VatRow[];
  totals: DocumentTotals;
  /** Why no receiver could take the document, whatever it says. */
  unavailable: readonly Unavailable[];
}

export type Unavailable = 'several_taxes' | 'amounts_do_not_meet';

/** Days, both ends included. */
export interface DayRange {
  from: Temporal.PlainDate;
  to: Temporal.PlainDate;
}

export interface DocumentParty {
  name: string;
  address_line1: string | null;
  address_line2: string | null;
  city: string | null;
  zipcode: string | null;
  state: string | null;
  country: string | null;
  /** BT-34, BT-49. */
  endpoint: ElectronicAddress | null;
  /** BT-29, BT-46: a number without a register. */
  identifier: string | null;
  /** BT-30, BT-47. */
  legalNumber: string | null;
  legalScheme: string | null;
  /** BT-31, BT-48, with the prefix of the country. */
  vatNumber: string | null;
  contact: { name: string | null; phone: string | null; email: string | null };
}

export interface SellerFacts extends DocumentParty {
  /** BT-32: number of the tax office. */
  taxRegistration: string | null;
}

/** How a document is paid: by transfer to an account (BG-17), by mandate (BG-19), or as its terms say. */
export type PaymentFacts =
  | { code: '30' | '58'; reference: string; account: { id: string; bic: string | null; holder: string | null } }
  | { code: '59'; reference: string; mandate: string; creditorId: string | null; debitedAccount: string | null }
  | { code: '1'; reference: string };

export interface LineFacts {
  name: string;
  description: string | null;
  quantity: Decimal;
  /** UN/ECE recommendation 20. */
  unit: string;
  /** Price of one unit in the currency's main unit. */
  price: Decimal;
  amountCents: number;
  category: VatCategory;
  /** Plain percent. */
  rate: Decimal;
  period: DayRange | null;
}

export interface AllowanceFacts {
  isCharge: boolean;
  amountCents: number;
  category: VatCategory;
  rate: Decimal;
  /** UNTDID 5189 for an allowance. */
  reasonCode: string | null;
  reason: string | null;
}

export interface VatRow {
  category: VatCategory;
  rate: Decimal;
  netCents: number;
  taxCents: number;
  /** BT-121, from the list VATEX. */
  exemptionCode: string | null;
  exemptionText: string | null;
}

export interface DocumentTotals {
  linesCents: number;
  allowancesCents: number;
  chargesCents: number;
  netCents: number;
  taxCents: number;
  grossCents: number;
  paidCents: number;
  roundingCents: number;
  payableCents: number;
}
