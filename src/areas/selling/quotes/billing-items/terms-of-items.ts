import { roundToCents } from '../../../../engine/money/cents.ts';
import type { Currency } from '../../../../engine/money/currency.ts';
import { decimal } from '../../../../engine/money/decimal.ts';
import type { OrderType } from '../../../../engine/quotes/quote-states.ts';
import type { AddOnItem, AddOnTerms, BillingItems, CouponItem, WalletItem } from './item-types.ts';
import { definedOnly } from './plan-overrides.ts';

/** The agreed terms of an add-on: the overrides, else the payload. Rule: quotes.md#execution. */
export const addOnTerms = ({ payload, overrides }: AddOnItem): AddOnTerms => ({ ...payload, ...overrides });

/**
 * Whether the agreed total equals the billed one: units × unit amount, rounded. The payload's total does not apply to
 * overridden figures.
 *
 *   1.5 × 999 → 1499
 */
export function isTotalRight(item: AddOnItem): boolean {
  const { units, unitAmountCents } = addOnTerms(item);
  const { overrides, payload } = item;
  const isOverridden = overrides?.units !== undefined || overrides?.unitAmountCents !== undefined;
  const total = overrides?.totalAmountCents ?? (isOverridden ? undefined : payload.totalAmountCents);
  if (total === undefined || units === undefined || unitAmountCents === undefined) return true;
  return roundToCents(decimal(units).times(unitAmountCents)) === total;
}

/** The agreed terms of a coupon, as the input of its application. */
export function couponInput({ payload, overrides }: CouponItem) {
  const percentage = overrides?.percentageRate ?? payload.percentageRate;
  return definedOnly({
    frequency: overrides?.frequency ?? payload.frequency,
    frequency_duration: overrides?.frequencyDuration ?? payload.frequencyDuration,
    amount_cents: overrides?.amountCents ?? payload.amountCents,
    amount_currency: overrides?.amountCurrency ?? payload.currency,
    percentage_rate: percentage === undefined ? undefined : String(percentage),
  });
}

/** A wallet in the form of its room's input, not parsed yet. */
export const walletInput = ({ payload }: WalletItem) =>
  definedOnly({
    name: payload.name,
    rate_amount: payload.rateAmount,
    paid_credits: payload.paidCredits,
    granted_credits: payload.grantedCredits,
    currency: payload.currency,
    expiration_at: payload.expirationAt,
    applies_to:
      payload.appliesTo &&
      definedOnly({
        fee_types: payload.appliesTo.feeTypes,
        billable_metric_codes: payload.appliesTo.billableMetricCodes,
      }),
    recurring_transaction_rules: payload.recurringTransactionRules?.map((rule) =>
      definedOnly({
        trigger: rule.trigger,
        interval: rule.interval,
        threshold_credits: rule.thresholdCredits,
        method: rule.method,
        target_ongoing_balance: rule.targetOngoingBalance,
        grants_target_top_up: rule.grantsTargetTopUp,
        paid_credits: rule.paidCredits,
        granted_credits: rule.grantedCredits,
        started_at: rule.startedAt,
        expiration_at: rule.expirationAt,
        transaction_name: rule.transactionName,
        invoice_requires_successful_payment: rule.invoiceRequiresSuccessfulPayment,
      }),
    ),
  });

/** Days and instants on which parts of a deal end. Rule: quotes.md#routes "after_deal_expiration". */
export function endsOf(items: BillingItems | null): string[] {
  const ends = [
    ...(items?.plans ?? []).map(({ payload }) => payload.endDate),
    ...(items?.walletCredits ?? []).flatMap(({ payload }) => [
      payload.expirationAt,
      ...(payload.recurringTransactionRules ?? []).map(({ expirationAt }) => expirationAt),
    ]),
  ];
  return ends.filter((end) => end !== undefined);
}

/**
 * Puts every override of a currency, and every wallet, into the currency of the deal; no figure is converted.
 * Rule: quotes.md#billing-items.
 */
export function realigned(items: BillingItems | null, currency: Currency | null): BillingItems | null {
  if (items === null || currency === null) return items;
  const inCurrency = <Terms extends { amountCurrency?: Currency }>(overrides: Terms): Terms =>
    overrides.amountCurrency === undefined ? overrides : { ...overrides, amountCurrency: currency };
  return {
    ...items,
    ...(items.plans && {
      plans: items.plans.map((item) => (item.overrides ? { ...item, overrides: inCurrency(item.overrides) } : item)),
    }),
    ...(items.coupons && {
      coupons: items.coupons.map((item) =>
        item.overrides ? { ...item, overrides: inCurrency(item.overrides) } : item,
      ),
    }),
    ...(items.walletCredits && {
      walletCredits: items.walletCredits.map((item) =>
        item.payload.currency === undefined ? item : { ...item, payload: { ...item.payload, currency } },
      ),
    }),
  };
}

/** External id of the subscription that a plan item makes; undefined leaves the choice to the execution. */
export const externalIdOf = (
  { localId, payload }: { localId?: string; payload: { subscriptionExternalId?: string } },
  orderType: OrderType,
): string | undefined =>
  orderType === 'subscription_amendment' ? undefined : (payload.subscriptionExternalId ?? localId);
