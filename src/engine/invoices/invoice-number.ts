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

/** `BENT-1-003-`, of `BENT-1-003-002`: the customer's sequence in the organization, then the invoice's own. */
export const seriesOfCustomer = (prefix: string, customerSequence: number): string =>
  `${prefix}-${String(customerSequence).padStart(3, '0')}-`;

/** `BENT-11-202310-`, of `BENT-11-202310-010`: the month of `today` in the billing entity's zone, then its sequence. */
export const seriesOfBillingEntity = (prefix: string, today: PlainDate): string =>
  `${prefix}-${String(today.year).padStart(4, '0')}${String(today.month).padStart(2, '0')}-`;
