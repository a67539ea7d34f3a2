import { announcement } from '../../platform/reactions.ts';
import type { QuoteRow, QuoteVersionRow } from './quotes/queries.ts';

/** A version of a quote was approved: it can be signed until `expires_at`. */
export const quoteApproved = announcement<{ quote: QuoteRow; version: QuoteVersionRow; expires_at: string | null }>(
  'quote.approved',
);
