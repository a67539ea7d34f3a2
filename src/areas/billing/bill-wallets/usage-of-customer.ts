import type { PooledAmount } from '../../../engine/credits/wallet-usage.ts';
import { TARGET_WALLET_KEY } from '../../../engine/metrics/group-values.ts';
import { cents, roundToCents } from '../../../engine/money/cents.ts';
import { type Decimal, decimal, sum } from '../../../engine/money/decimal.ts';
import type { Tax } from '../../../engine/taxes/tax.ts';
import { taxOn } from '../../../engine/taxes/tax-fee.ts';
import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId, CustomerId, SubscriptionId } from '../../../platform/ids.ts';
import { getShown } from '../../subscriptions/subscriptions/queries.ts';
import { listHeldTaxes, taxesOfFee } from '../../usage/usage/fee-taxes.ts';
import { wholeUsageOf } from '../../usage/usage/subscription-usage.ts';
import {
  listActiveSubscriptions,
  listDraftFees,
  listProgressiveFees,
  type OwnedFee,
} from './ongoing-balance-queries.ts';

/** An amount of one currency. */
export interface CurrencyAmount extends PooledAmount {
  currency: string;
}

/**
 * What a customer has used and not paid yet, with tax: usage in progress billed in arrears and drafts, less what
 * progressive invoices billed of the same periods.
 *
 * Rule: top-ups.md#ongoing-balance.
 */
export async function usageOfCustomer(
  ctx: Context,
  customer: { id: CustomerId; billing_entity_id: BillingEntityId },
): Promise<CurrencyAmount[]> {
  const subscriptions = await listActiveSubscriptions(ctx, customer.id);
  const used: CurrencyAmount[] = [];
  for (const { id } of subscriptions) used.push(...(await usageOfSubscription(ctx, id, customer)));
  const [drafts, billed] = await Promise.all([
    listDraftFees(ctx, customer.id),
    listProgressiveFees(ctx, customer.id, ctx.now()),
  ]);
  return [...used, ...drafts.map((fee) => amountOf(fee, 1)), ...billed.map((fee) => amountOf(fee, -1))];
}

async function usageOfSubscription(
  ctx: Context,
  id: SubscriptionId,
  customer: { id: CustomerId; billing_entity_id: BillingEntityId },
): Promise<CurrencyAmount[]> {
  const subscription = await getShown(ctx, id);
  // Charges in advance have their invoices already.
  const usage = (await wholeUsageOf(ctx, subscription, ctx.now())).filter(({ charge }) => !charge.pay_in_advance);
  if (usage.length === 0) return [];
  const held = await listHeldTaxes(ctx, {
    chargeIds: usage.map(({ charge }) => charge.id),
    planIds: [subscription.plan_id],
    customerId: customer.id,
    billingEntityId: customer.billing_entity_id,
  });
  return usage.flatMap(({ charge, shares }) => {
    const taxes = taxesOfFee(held, 'charge', { chargeId: charge.id, planId: subscription.plan_id });
    return shares.map(({ fee, counted }) => ({
      currency: subscription.plan_amount_currency,
      key: {
        feeType: 'charge',
        billableMetricId: charge.metric.id,
        targetWalletCode: counted.groupedBy[TARGET_WALLET_KEY] ?? null,
      },
      amountCents: roundToCents(withTaxes(decimal(fee.amountCents), taxes)),
    }));
  });
}

const withTaxes = (amount: Decimal, taxes: readonly Tax[]): Decimal =>
  amount.plus(sum(taxes.map((tax) => taxOn(amount, tax))));

const amountOf = (fee: OwnedFee, sign: 1 | -1): CurrencyAmount => ({
  currency: fee.currency,
  key: { feeType: fee.fee_type, billableMetricId: fee.billable_metric_id, targetWalletCode: fee.target_wallet_code },
  amountCents: cents(sign * roundToCents(fee.amount)),
});
