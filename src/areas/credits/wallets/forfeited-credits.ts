import type { Cents } from '../../../engine/money/cents.ts';

/** Lines of credits that can no longer be used. Rule: ledger.md#l9. */
export const forfeited = (grantedCents: Cents, purchasedCents: Cents) =>
  [
    { account: 'prepaid_purchased', side: 'debit', amountCents: purchasedCents },
    { account: 'breakage', side: 'credit', amountCents: purchasedCents },
    { account: 'prepaid_granted', side: 'debit', amountCents: grantedCents },
    { account: 'promotions', side: 'credit', amountCents: grantedCents },
  ] as const;
