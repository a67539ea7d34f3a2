import type { Check } from './check.ts';
import { INVOICE_CHECKS } from './invoice-checks.ts';
import { LEDGER_CHECKS } from './ledger-checks.ts';
import { SLOW_CHECKS } from './slow-checks.ts';
import { SUBSCRIPTION_CHECKS } from './subscription-checks.ts';

/** Every invariant that the auditor looks after; a new one is a row in one of the lists. */
export const CHECKS: readonly Check[] = [...LEDGER_CHECKS, ...INVOICE_CHECKS, ...SUBSCRIPTION_CHECKS, ...SLOW_CHECKS];
