import { BUDGET_EXAMPLES } from './budgets.ts';
import { CATALOG_EXAMPLES } from './catalog.ts';
import { CUSTOMER_EXAMPLES } from './customers.ts';
import { MONEY_EXAMPLES } from './money.ts';
import { RECORD_EXAMPLES } from './records.ts';
import { BULK_EXAMPLE, USAGE_EXAMPLES } from './usage.ts';

/** One body that is accepted, by operation, for the API description. */
export const BODY_EXAMPLES: Readonly<Record<string, object>> = {
  ...CATALOG_EXAMPLES,
  ...CUSTOMER_EXAMPLES,
  ...USAGE_EXAMPLES,
  ...BUDGET_EXAMPLES,
  ...MONEY_EXAMPLES,
};

/** The same of bodies that are no JSON. */
export const TEXT_EXAMPLES: Readonly<Record<string, string>> = { createBulkEvents: BULK_EXAMPLE, ...RECORD_EXAMPLES };
