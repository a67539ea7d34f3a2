/**
 * Sizes of inputs without a specific one. Every text, list and record of a schema has a limit, so that the cost of a
 * request is bounded before it is treated (everywhere.md#bounded-cost).
 */

/**
 * How many characters a name, a code to look up or a line of an address may have: ten times what is read at a glance.
 */
export const LINE_MAX = 1000;
/** How many characters a description may have, or terms that an invoice prints: several pages. */
export const PROSE_MAX = 10_000;
/**
 * How many characters a decimal may have as it was sent: 25 digits before the point, 38 after it. No column holds more.
 */
export const DECIMAL_MAX = 64;
/** How many characters an instant may have, which may name a zone beside its offset. */
export const INSTANT_MAX = 100;
/** How many bytes the longest text in an index may have: an index row ends at 2 704, and holds up to two such texts. */
export const KEY_MAX_BYTES = 1000;
/** How many days a payment term or a grace period may last: about a century, so that dates can still be written. */
export const TERM_DAYS_MAX = 36_525;
/** How many elements a value may have that should be one word or number and is read by special rules. */
export const SCALAR_MAX = 10;
/** How many codes of other records one record may name: taxes, plans, sections. */
export const CODES_MAX = 500;
/** After how many issues a list is not checked further, because a reader repairs the first ones first. */
export const ISSUES_MAX = 100;
