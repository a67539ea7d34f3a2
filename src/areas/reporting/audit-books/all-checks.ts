import { AI_CHECKS } from './ai-checks.ts';
import { ANALYTICS_CHECKS } from './analytics-checks.ts';
import { ARCHIVE_CHECKS } from './archive-checks.ts';
import { BUDGET_CHECKS } from './budget-checks.ts';
import type { Check } from './check-of-an-invariant.ts';
import { CORRECTION_CHECKS } from './correction-checks.ts';
import { CREDIT_CHECKS } from './credit-checks.ts';
import { INVOICE_CHECKS } from './invoice-checks.ts';
import { LEDGER_CHECKS } from './ledger-checks.ts';
import { MACHINERY_CHECKS } from './machinery-checks.ts';
import { PROVIDER_CHECKS } from './provider-checks.ts';
import { SLOW_CHECKS } from './slow-checks.ts';
import { SUBSCRIPTION_CHECKS } from './subscription-checks.ts';
import { USAGE_CHECKS } from './usage-checks.ts';

/** Every check of the auditor; a new one is a row in one of the lists. */
export const CHECKS: readonly Check[] = [
  ...LEDGER_CHECKS,
  ...INVOICE_CHECKS,
  ...CREDIT_CHECKS,
  ...BUDGET_CHECKS,
  ...SUBSCRIPTION_CHECKS,
  ...MACHINERY_CHECKS,
  ...USAGE_CHECKS,
  ...AI_CHECKS,
  ...SLOW_CHECKS,
  ...CORRECTION_CHECKS,
  ...ANALYTICS_CHECKS,
  ...ARCHIVE_CHECKS,
  ...PROVIDER_CHECKS,
];
