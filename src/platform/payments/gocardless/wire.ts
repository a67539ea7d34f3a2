import type { WireTable } from '../../../engine/money/wire.ts';
import { takesOnly } from '../takes-only.ts';

/** Amounts of GoCardless: currencies of its bank debit schemes, in cents. Rule: payments.md#amounts-on-the-wire. */
export const GOCARDLESS_WIRE: WireTable = takesOnly(['AUD', 'CAD', 'DKK', 'EUR', 'GBP', 'NZD', 'SEK', 'USD']);
