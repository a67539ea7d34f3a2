import { Temporal } from 'temporal-polyfill';
import { isAfter } from '../../../../engine/calendar/instants.ts';
import { exponentOf } from '../../../../engine/money/currency.ts';
import { decimal } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import { creditFaults } from '../../../credits/wallets/faults-of-fields.ts';
import { findBillableMetrics } from '../../../credits/wallets/queries.ts';
import { CustomerWalletCreate, WALLET_FEE_TYPES } from '../../../credits/wallets/schema.ts';
import { readRule } from '../../../credits/wallets/top-up-rule-input.ts';
import type { Deal } from './check-against-catalog.ts';
import type { WalletItem } from './item-types.ts';
import { camelPath } from './plan-overrides.ts';
import { addFault, type Faults } from './read-fields.ts';
import { walletInput } from './terms-of-items.ts';

/**
 * Notes what is wrong with the wallets of a deal. Rules: quotes.md#billing-items, wallets.md#fields,
 * top-ups.md#recurring-rules.
 */
export async function walletFaults(
  ctx: Context,
  items: readonly WalletItem[],
  deal: Deal,
  faults: Faults,
): Promise<void> {
  for (const [index, item] of items.entries()) {
    const path = `billing_items.walletCredits.${index}.payload`;
    const { payload } = item;
    if (payload.currency !== undefined && payload.currency !== deal.currency)
      addFault(faults, `${path}.currency`, 'currencies_does_not_match');
    const parsed = CustomerWalletCreate.safeParse(walletInput(item));
    for (const issue of parsed.error?.issues ?? []) addFault(faults, camelPath(path, issue.path), 'invalid_value');
    if (payload.expirationAt && !isAfter(Temporal.Instant.from(payload.expirationAt), ctx.now()))
      addFault(faults, `${path}.expirationAt`, 'invalid_date');
    if (parsed.success) amountFaults(item, parsed.data.rate_amount, { deal, path, faults });
    ruleFaults(ctx, item, path, faults);
    const { feeTypes = [], billableMetricCodes: codes = [] } = payload.appliesTo ?? {};
    if (feeTypes.some((type) => !(WALLET_FEE_TYPES as readonly string[]).includes(type)))
      addFault(faults, `${path}.appliesTo.feeTypes`, 'invalid_value');
    if (codes.length > 0 && (await findBillableMetrics(ctx, codes)).length < new Set(codes).size)
      addFault(faults, `${path}.appliesTo.billableMetricCodes`, 'billable_metric_not_found');
  }
}

/** Credits must be worth at least a cent, and fit into an amount. */
function amountFaults(
  { payload }: WalletItem,
  rate: string,
  { deal, path, faults }: { deal: Deal; path: string; faults: Faults },
): void {
  const worth = { rate: decimal(rate), exponent: exponentOf(deal.currency), min: null, max: null };
  const places = [
    { path, credits: payload },
    ...(payload.recurringTransactionRules ?? []).map((rule, index) => ({
      path: `${path}.recurringTransactionRules.${index}`,
      credits: rule,
    })),
  ];
  for (const place of places) {
    for (const field of ['paidCredits', 'grantedCredits'] as const) {
      const found = creditFaults(field, place.credits[field] ?? null, { limits: worth, ignoresLimits: true });
      if (Object.keys(found).length > 0) addFault(faults, `${place.path}.${field}`, 'invalid_value');
    }
  }
}

function ruleFaults(ctx: Context, item: WalletItem, path: string, faults: Faults): void {
  const rules = walletInput(item).recurring_transaction_rules ?? [];
  for (const [index, rule] of rules.entries()) {
    const place = `${path}.recurringTransactionRules.${index}`;
    const isOver = rule.expiration_at !== undefined && !isAfter(Temporal.Instant.from(rule.expiration_at), ctx.now());
    if (isOver) addFault(faults, `${place}.expirationAt`, 'invalid_date');
    const wallet = {
      created_at: ctx.now(),
      invoice_requires_successful_payment: false,
      firstPaid: item.payload.paidCredits ?? null,
      firstGranted: item.payload.grantedCredits ?? null,
    };
    if (!isOver && !readRule(rule, wallet, ctx.now())) addFault(faults, place, 'invalid_value');
  }
}
