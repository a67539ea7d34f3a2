import type { MethodRow } from './queries.ts';

/** Types of methods that collect from a bank account by a mandate. */
const MANDATES: ReadonlySet<string> = new Set(['bank_debit', 'sepa_debit', 'bacs_debit', 'us_bank_account']);

/** Whether a method collects by a mandate, so that the bank may refuse or take back a payment days later. */
export const isMandate = ({ method_type }: Pick<MethodRow, 'method_type'>): boolean => MANDATES.has(method_type);
