import type { AccountCode } from './postings.ts';

export type AccountKind = 'asset' | 'liability' | 'income' | 'contra_income' | 'expense';
export type Side = 'debit' | 'credit';

/** What each account is. Rule: ledger.md#accounts. */
const KINDS: Record<AccountCode, AccountKind> = {
  receivable: 'asset',
  unrecorded_receipts: 'asset',
  cash: 'asset',
  tax_recoverable: 'asset',
  partner_credit: 'asset',
  applied_pending: 'liability',
  customer_credit: 'liability',
  refunds_payable: 'liability',
  prepaid_pending: 'liability',
  prepaid_purchased: 'liability',
  prepaid_granted: 'liability',
  unapplied_receipts: 'liability',
  tax_payable: 'liability',
  partner_payable: 'liability',
  'revenue.subscription': 'income',
  'revenue.usage': 'income',
  'revenue.fixed': 'income',
  'revenue.commitment': 'income',
  'revenue.add_on': 'income',
  breakage: 'income',
  coupons: 'contra_income',
  progressive_credit: 'contra_income',
  sales_returns: 'contra_income',
  promotions: 'contra_income',
  write_offs: 'expense',
  dispute_losses: 'expense',
  partner_costs: 'expense',
};

const NORMAL_SIDES: Record<AccountKind, Side> = {
  asset: 'debit',
  liability: 'credit',
  income: 'credit',
  contra_income: 'debit',
  expense: 'debit',
};

/** Kind of an account; one that is not in the table yet is shown as a liability. */
export const kindOf = (code: string): AccountKind => KINDS[code as AccountCode] ?? 'liability';
export const normalSideOf = (code: string): Side => NORMAL_SIDES[kindOf(code)];
