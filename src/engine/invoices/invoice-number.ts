import type { PlainDate } from '../calendar/instants.ts';

export const DOCUMENT_NUMBERINGS = ['per_customer', 'per_billing_entity'] as const;
export type DocumentNumbering = (typeof DOCUMENT_NUMBERINGS)[number];

/**
 * Prefix of a billing entity without its own: "Acme", …4f2a → `ACM-4F2A`. Rules: invoices.md#numbers, organizations.md.
 */
export const defaultNumberPrefix = (name: string, id: string): string =>
  `${[...name.toUpperCase()].slice(0, 3).join('')}-${id.slice(-4).toUpperCase()}`;

/** Number of an invoice that has not got one yet. */
export const draftNumber = (prefix: string): string => `${prefix}-DRAFT`;

/** `BENT-1-003-002`: the customer's sequence in the organization, then the invoice's in the customer. */
export const numberPerCustomer = (prefix: string, customerSequence: number, sequentialId: number): string =>
  `${prefix}-${threeDigits(customerSequence)}-${threeDigits(sequentialId)}`;

/** `BENT-11-202310-010`: the month of `today` in the billing entity's zone, then the entity's sequence. */
export const numberPerBillingEntity = (prefix: string, today: PlainDate, sequence: number): string =>
  `${prefix}-${String(today.year).padStart(4, '0')}${String(today.month).padStart(2, '0')}-${threeDigits(sequence)}`;

/** At least three digits; longer sequences are not cut. Rule: invoices.md#numbers. */
const threeDigits = (sequence: number): string => String(sequence).padStart(3, '0');
