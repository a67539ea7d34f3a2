import type { Instant } from '../calendar/instants.ts';
import { utcDate } from '../calendar/instants.ts';

/** First letters of the numbers. */
const LETTERS = { quote: 'QT', order_form: 'OF', order: 'OR' } as const;
export type NumberedDocument = keyof typeof LETTERS;

const LEAST_DIGITS = 4;

/**
 * Number of a quote, an order form or an order: the year in which it was made (UTC), then the organization's sequence,
 * which goes on over the years.
 *
 *   quote, 2026, 7 → QT-2026-0007
 *
 * Rule: quotes.md#lifecycle.
 */
export function documentNumber(document: NumberedDocument, createdAt: Instant, sequence: number): string {
  const year = String(utcDate(createdAt).year).padStart(4, '0');
  return `${LETTERS[document]}-${year}-${String(sequence).padStart(LEAST_DIGITS, '0')}`;
}
