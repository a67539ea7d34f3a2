import type { CreditNoteReason } from '../../../../engine/credits/credit-note-states.ts';

/** Every fixed word of a document in one language; a missing one is a compile error. Braces are filled in. */
export interface DocumentTexts {
  titles: { invoice: string; selfBilledInvoice: string; creditNote: string; receipt: string };
  number: string;
  /** Label of the date of the document itself, an invoice. */
  issuedOn: string;
  /** Label of the date of an invoice that another document names. */
  invoiceDate: string;
  noteNumber: string;
  noteIssuedOn: string;
  dueOn: string;
  purchaseOrder: string;
  /** From the first to the last day that is billed. */
  servicePeriod: string;
  paymentTerm: string;
  issuer: string;
  payer: string;
  shipTo: string;
  /** An identifier of value added tax, which begins with a country. */
  vatNumber: string;
  /** Any other number of a tax. */
  taxNumber: string;
  legalNumber: string;
  /** `{amount}`. */
  amountDue: string;
  /** `{date}`. */
  payableUntil: string;
  /** Beside the date, where a provider charges the customer by itself. */
  chargedToMethod: string;
  paidOn: string;
  reference: string;
  /** `{amount}`. */
  amountPaid: string;
  /** `{amount}`. */
  amountCredited: string;
  reason: string;
  reasons: Readonly<Record<CreditNoteReason, string>>;
  /** What became of the amount of a credit note. */
  toBalance: string;
  toRefund: string;
  /** `{number}`. */
  toInvoice: string;
  paidWith: string;
  card: string;
  debit: string;
  transfer: string;
  unapplied: string;
  item: string;
  units: string;
  unitPrice: string;
  tax: string;
  amount: string;
  subscriptionFee: string;
  commitment: string;
  spendingMinimum: string;
  otherItems: string;
  /** `{from}`, `{to}`. */
  tier: string;
  /** `{from}`. */
  lastTier: string;
  flatFee: string;
  freeUnits: string;
  packages: string;
  rate: string;
  minMaxAdjustment: string;
  ungrouped: string;
  /** What no filter of a charge takes, below its name. */
  rest: string;
  subTotal: string;
  progressiveCredit: string;
  coupons: string;
  netTotal: string;
  /** `{name}`, `{rate}`, `{base}`. */
  taxOn: string;
  /** `{base}`, `{net}`. */
  taxedApart: string;
  noTax: string;
  grossTotal: string;
  creditNotes: string;
  prepaidCredits: string;
  total: string;
  /** Marked as paid, where no payment is known. */
  paid: string;
  /** Settled by a credit note of this invoice. */
  credited: string;
  writtenOff: string;
  leftToPay: string;
  selfBilledNote: string;
  /** `{page}`, `{pages}`. */
  page: string;
}
