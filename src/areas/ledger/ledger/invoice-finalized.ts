import type { FeeType } from '../../../engine/taxes/choose-taxes.ts';
import type { AccountCode, LedgerLine } from './postings.ts';

/** Figures of an invoice that is booked. */
export interface BookedInvoice {
  selfBilled: boolean;
  fees: readonly { feeType: FeeType; amountCents: number }[];
  couponsAmountCents: number;
  progressiveBillingCreditAmountCents: number;
  taxesAmountCents: number;
  totalIncludingTaxesCents: number;
  taxes: readonly { code: string; amountCents: number }[];
}

const REVENUE: Record<Exclude<FeeType, 'credit'>, AccountCode> = {
  subscription: 'revenue.subscription',
  charge: 'revenue.usage',
  fixed_charge: 'revenue.fixed',
  commitment: 'revenue.commitment',
  add_on: 'revenue.add_on',
};

/**
 * Lines that book an invoice when it becomes final: what is owed against revenue by type of fee and tax by code. A
 * self-billed one is booked from the other side.
 *
 * Rules: ledger.md#l1, ledger.md#l24.
 */
export function invoiceFinalizedLines(invoice: BookedInvoice): LedgerLine[] {
  const lines: LedgerLine[] = [
    { account: 'receivable', side: 'debit', amountCents: invoice.totalIncludingTaxesCents },
    { account: 'coupons', side: 'debit', amountCents: invoice.couponsAmountCents },
    { account: 'progressive_credit', side: 'debit', amountCents: invoice.progressiveBillingCreditAmountCents },
    ...revenueLines(invoice),
    ...taxShares(invoice).map(
      ({ code, amountCents }): LedgerLine => ({ account: 'tax_payable', side: 'credit', amountCents, taxCode: code }),
    ),
  ];
  return invoice.selfBilled ? mergeSame(lines.map(swapped)) : lines;
}

function revenueLines({ fees }: BookedInvoice): LedgerLine[] {
  const totals = new Map<AccountCode, number>();
  for (const { feeType, amountCents } of fees) {
    if (feeType === 'credit') continue;
    totals.set(REVENUE[feeType], (totals.get(REVENUE[feeType]) ?? 0) + amountCents);
  }
  return [...totals].map(([account, amountCents]) => ({ account, side: 'credit', amountCents }));
}

/**
 * The tax of an invoice or note by code, summing up to its total: the difference to the taxes' own roundings goes to
 * the greatest, then to the smallest code. Rule: ledger.md#journal (7).
 */
export function taxShares({
  taxes,
  taxesAmountCents,
}: Pick<BookedInvoice, 'taxes' | 'taxesAmountCents'>): { code: string; amountCents: number }[] {
  const difference = taxesAmountCents - taxes.reduce((total, { amountCents }) => total + amountCents, 0);
  const [bearer] = [...taxes].sort((a, b) => b.amountCents - a.amountCents || (a.code < b.code ? -1 : 1));
  return taxes.map((tax) => (tax === bearer ? { ...tax, amountCents: tax.amountCents + difference } : tax));
}

const PARTNER_ACCOUNTS: Partial<Record<AccountCode, AccountCode>> = {
  receivable: 'partner_payable',
  tax_payable: 'tax_recoverable',
};

const swapped = (line: LedgerLine): LedgerLine => ({
  ...line,
  account: PARTNER_ACCOUNTS[line.account] ?? 'partner_costs',
  side: line.side === 'debit' ? 'credit' : 'debit',
});

/** Merges lines of one account, side and tax. */
function mergeSame(lines: readonly LedgerLine[]): LedgerLine[] {
  const merged = new Map<string, LedgerLine>();
  for (const line of lines) {
    const key = `${line.account}|${line.side}|${line.taxCode ?? ''}`;
    merged.set(key, { ...line, amountCents: (merged.get(key)?.amountCents ?? 0) + line.amountCents });
  }
  return [...merged.values()];
}
