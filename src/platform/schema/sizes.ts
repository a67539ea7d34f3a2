/**
 * Sizes of inputs without a specific one. Every text, list and record of a schema has a limit, so that the cost of a
 * request is bounded before it is treated (everywhere.md#bounded-cost).
 */

/** Characters of a name, a code to look up or a line of an address: ten times what is read at a glance. */
export const LINE_MAX = 1000;
/** Characters of a description, or of terms that an invoice prints: several pages. */
export const PROSE_MAX = 10_000;
/** Characters of a decimal as it was sent: 25 digits before the point, 38 after it. No column holds more. */
export const DECIMAL_MAX = 64;
/** Characters of an instant, which may name a zone beside its offset. */
export const INSTANT_MAX = 100;
/** Bytes of the longest text in an index: an index row ends at 2 704, and holds up to two such texts. */
export const KEY_MAX_BYTES = 1000;
/** Days of a payment term or a grace period: about a century, so that dates can still be written. */
export const TERM_DAYS_MAX = 36_525;
/** Elements of a value that should be one word or number and is read by special rules. */
export const SCALAR_MAX = 10;
/** Codes of other records that one record names: taxes, plans, sections. */
export const CODES_MAX = 500;
/** Issues after which a list is not checked further, because a reader repairs the first ones first. */
export const ISSUES_MAX = 100;
