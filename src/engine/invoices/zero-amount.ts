export const ZERO_AMOUNT_SETTINGS = ['inherit', 'finalize', 'skip'] as const;
export type ZeroAmountSetting = (typeof ZERO_AMOUNT_SETTINGS)[number];

/**
 * Whether an invoice whose fees are all 0 is made, by the customer's setting or else the billing entity's.
 * Rule: invoices.md#zero-amounts.
 */
export const keepsZeroAmount = (customer: ZeroAmountSetting, billingEntity: boolean): boolean =>
  customer === 'inherit' ? billingEntity : customer === 'finalize';
