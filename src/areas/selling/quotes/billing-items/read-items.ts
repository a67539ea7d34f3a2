import { COUPON_FREQUENCIES, COUPON_TYPES } from '../../../../engine/credits/coupon.ts';
import { TOP_UP_INTERVALS } from '../../../../engine/credits/wallet-interval.ts';
import { own } from '../../../../engine/own.ts';
import { CHARGE_MODELS } from '../../../../engine/pricing/charge-models.ts';
import { FIXED_CHARGE_MODELS } from '../../../../engine/pricing/fixed-charge-rules.ts';
import type { OrderType } from '../../../../engine/quotes/quote-states.ts';
import { PERIODS_MAX } from '../../../catalog/coupons/schema.ts';
import type { BillingItems } from './item-types.ts';
import {
  addFault,
  always,
  anyObject,
  atApproval,
  boolean,
  cents,
  currency,
  dayOrInstant,
  decimalString,
  type Faults,
  instant,
  isObject,
  list,
  literal,
  number,
  object,
  oneOf,
  type Reader,
  text,
  uuid,
} from './read-fields.ts';

/** How many items of one kind a deal may have: more than is sold together, and few enough for one transaction. */
const MOST_ITEMS = 100;
const MOST_PARTS = 200;

const FEE_TYPES = ['charge', 'add_on', 'subscription', 'credit', 'commitment', 'fixed_charge', 'product'];

const addOnTerms = { fromDatetime: instant, toDatetime: instant };
// The same limit as for one-off invoices.
const units = number((value) => value.gt(0) && value.lt('1e15'));
const addOn = object({
  id: always(uuid),
  localId: always(text),
  type: always(literal('add_on')),
  payload: always(
    object({
      code: atApproval(text),
      units: atApproval(units),
      unitAmountCents: atApproval(cents),
      totalAmountCents: atApproval(cents),
      ...addOnTerms,
    }),
  ),
  overrides: object({
    description: text,
    units,
    unitAmountCents: cents,
    totalAmountCents: cents,
    invoiceDisplayName: text,
    ...addOnTerms,
  }),
});

const plan = object({
  id: always(uuid),
  localId: text,
  type: always(literal('plan')),
  payload: always(
    object({
      code: atApproval(text),
      subscriptionExternalId: text,
      subscriptionName: text,
      billingTime: oneOf(['calendar', 'anniversary']),
      startDate: dayOrInstant,
      endDate: dayOrInstant,
      paymentMethodId: uuid,
      charges: list(object({ id: uuid, billableMetric: object({ code: text }), chargeModel: oneOf(CHARGE_MODELS) }), {
        most: MOST_PARTS,
      }),
      fixedCharges: list(object({ id: uuid, addOn: object({ code: text }), chargeModel: oneOf(FIXED_CHARGE_MODELS) }), {
        most: MOST_PARTS,
      }),
    }),
  ),
  overrides: object({
    amountCents: cents,
    amountCurrency: currency,
    name: text,
    description: text,
    invoiceDisplayName: text,
    trialPeriod: number((value) => value.gte(0)),
    minimumCommitment: object({ amountCents: cents, invoiceDisplayName: text }),
    usageThresholds: list(object({ amountCents: always(cents), recurring: boolean, thresholdDisplayName: text }), {
      most: MOST_PARTS,
    }),
    charges: list(
      object({
        billableMetricCode: always(text),
        chargeModel: oneOf(CHARGE_MODELS),
        properties: anyObject,
        minAmountCents: cents,
        invoiceDisplayName: text,
      }),
      { most: MOST_PARTS },
    ),
    fixedCharges: list(
      object({ addOnCode: always(text), units: decimalString, properties: anyObject, invoiceDisplayName: text }),
      { most: MOST_PARTS },
    ),
  }),
});

const couponTerms = {
  amountCents: cents,
  percentageRate: number((value) => value.gte(0) && value.lt('1e5')),
  frequency: oneOf(COUPON_FREQUENCIES),
  frequencyDuration: number((value) => value.isInteger() && value.gt(0) && value.lte(PERIODS_MAX)),
};
const coupon = object({
  id: always(uuid),
  localId: always(text),
  type: always(literal('coupon')),
  payload: always(object({ code: atApproval(text), type: atApproval(oneOf(COUPON_TYPES)), currency, ...couponTerms })),
  overrides: object({ amountCurrency: currency, ...couponTerms }),
});

const walletCredit = object({
  localId: always(text),
  type: always(literal('wallet_credit')),
  payload: always(
    object({
      paidCredits: atApproval(decimalString),
      grantedCredits: atApproval(decimalString),
      rateAmount: atApproval(decimalString),
      currency,
      name: text,
      expirationAt: instant,
      appliesTo: object({
        feeTypes: list(oneOf(FEE_TYPES), { most: MOST_PARTS }),
        billableMetricCodes: list(text, { most: MOST_PARTS }),
      }),
      recurringTransactionRules: list(
        object({
          trigger: oneOf(['interval', 'threshold']),
          interval: oneOf(TOP_UP_INTERVALS),
          thresholdCredits: decimalString,
          method: oneOf(['fixed', 'target']),
          targetOngoingBalance: decimalString,
          grantsTargetTopUp: boolean,
          paidCredits: decimalString,
          grantedCredits: decimalString,
          startedAt: instant,
          expirationAt: instant,
          transactionName: text,
          invoiceRequiresSuccessfulPayment: boolean,
        }),
        { most: MOST_PARTS, mostAtApproval: 1 },
      ),
    }),
  ),
});

const LISTS: Readonly<Record<keyof BillingItems, Reader>> = {
  addOns: list(addOn, { most: MOST_ITEMS }),
  plans: list(plan, { most: MOST_ITEMS }),
  coupons: list(coupon, { most: MOST_ITEMS }),
  walletCredits: list(walletCredit, { most: MOST_ITEMS }),
};

const OF_SUBSCRIPTIONS = ['plans', 'coupons', 'walletCredits'] as const;
const KEYS: Readonly<Record<OrderType, readonly (keyof BillingItems)[]>> = {
  one_off: ['addOns'],
  subscription_creation: OF_SUBSCRIPTIONS,
  subscription_amendment: OF_SUBSCRIPTIONS,
};

/**
 * Reads billing items of a kind of order: unknown keys are dropped, those of another kind of order are refused. A draft
 * may leave out nearly everything; an approval requires everything that the kind needs, and a plan or an add-on.
 *
 * @returns the items as they are stored, and everything that is wrong, by `billing_items.<path>`
 * Rule: quotes.md#billing-items.
 */
export function readBillingItems(
  given: unknown,
  orderType: OrderType,
  { isApproval }: { isApproval: boolean },
): { items: BillingItems | null; faults: Faults } {
  const faults: Faults = {};
  const path = 'billing_items';
  if (given !== null && given !== undefined && !isObject(given)) {
    addFault(faults, path, 'invalid_type');
    return { items: null, faults };
  }
  const items: BillingItems = {};
  for (const [key, read] of Object.entries(LISTS) as [keyof BillingItems, Reader][]) {
    const value = given && own(given, key);
    if (value === undefined || value === null) continue;
    if (KEYS[orderType].includes(key)) items[key] = read(value, `${path}.${key}`, { isApproval, faults }) as never;
    else addFault(faults, `${path}.${key}`, 'unsupported_key');
  }
  if (items.plans && items.plans.length > 1 && orderType === 'subscription_amendment')
    addFault(faults, `${path}.plans`, 'single_plan_expected');
  if (isApproval) {
    const main = orderType === 'one_off' ? 'addOns' : 'plans';
    if (!items[main]?.length)
      addFault(
        faults,
        `${path}.${main}`,
        orderType === 'subscription_amendment' ? 'single_plan_expected' : 'value_is_mandatory',
      );
  }
  return { items: given ? items : null, faults };
}
