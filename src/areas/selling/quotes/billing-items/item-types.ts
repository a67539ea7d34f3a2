import type { COUPON_FREQUENCIES, COUPON_TYPES } from '../../../../engine/credits/coupon.ts';
import type { TOP_UP_INTERVALS } from '../../../../engine/credits/wallet-interval.ts';
import type { Currency } from '../../../../engine/money/currency.ts';
import type { ChargeModelName } from '../../../../engine/pricing/charge-models.ts';
import type { FixedChargeModel } from '../../../../engine/pricing/fixed-charge-rules.ts';
import type { ChargeId, FixedChargeId, PaymentMethodId } from '../../../../platform/ids.ts';

/** Terms of an add-on; an override has precedence over the payload. Rule: quotes.md#billing-items. */
export interface AddOnTerms {
  description?: string;
  units?: number;
  unitAmountCents?: number;
  totalAmountCents?: number;
  invoiceDisplayName?: string;
  fromDatetime?: string;
  toDatetime?: string;
}

export interface AddOnItem {
  id: string;
  localId: string;
  type: 'add_on';
  payload: AddOnTerms & { code?: string };
  overrides?: AddOnTerms;
}

export interface PlanTerms {
  amountCents?: number;
  amountCurrency?: Currency;
  name?: string;
  description?: string;
  invoiceDisplayName?: string;
  trialPeriod?: number;
  minimumCommitment?: { amountCents?: number; invoiceDisplayName?: string };
  usageThresholds?: { amountCents: number; recurring?: boolean; thresholdDisplayName?: string }[];
  charges?: {
    billableMetricCode: string;
    chargeModel?: ChargeModelName;
    properties?: Record<string, unknown>;
    minAmountCents?: number;
    invoiceDisplayName?: string;
  }[];
  fixedCharges?: {
    addOnCode: string;
    units?: string;
    properties?: Record<string, unknown>;
    invoiceDisplayName?: string;
  }[];
}

export interface PlanItem {
  id: string;
  localId?: string;
  type: 'plan';
  payload: {
    code?: string;
    subscriptionExternalId?: string;
    subscriptionName?: string;
    billingTime?: 'calendar' | 'anniversary';
    startDate?: string;
    endDate?: string;
    paymentMethodId?: PaymentMethodId;
    charges?: { id?: ChargeId; billableMetric?: { code?: string }; chargeModel?: ChargeModelName }[];
    fixedCharges?: { id?: FixedChargeId; addOn?: { code?: string }; chargeModel?: FixedChargeModel }[];
  };
  overrides?: PlanTerms;
}

interface CouponTerms {
  amountCents?: number;
  percentageRate?: number;
  frequency?: (typeof COUPON_FREQUENCIES)[number];
  frequencyDuration?: number;
}

export interface CouponItem {
  id: string;
  localId: string;
  type: 'coupon';
  payload: CouponTerms & { code?: string; type?: (typeof COUPON_TYPES)[number]; currency?: Currency };
  overrides?: CouponTerms & { amountCurrency?: Currency };
}

export interface TopUpRule {
  trigger?: 'interval' | 'threshold';
  interval?: (typeof TOP_UP_INTERVALS)[number];
  thresholdCredits?: string;
  method?: 'fixed' | 'target';
  targetOngoingBalance?: string;
  grantsTargetTopUp?: boolean;
  paidCredits?: string;
  grantedCredits?: string;
  startedAt?: string;
  expirationAt?: string;
  transactionName?: string;
  invoiceRequiresSuccessfulPayment?: boolean;
}

export interface WalletItem {
  localId: string;
  type: 'wallet_credit';
  payload: {
    paidCredits?: string;
    grantedCredits?: string;
    rateAmount?: string;
    currency?: Currency;
    name?: string;
    expirationAt?: string;
    appliesTo?: { feeTypes?: string[]; billableMetricCodes?: string[] };
    recurringTransactionRules?: TopUpRule[];
  };
}

/** The items of a deal, with names in camel case as their authors send them. Rule: quotes.md#billing-items. */
export interface BillingItems {
  addOns?: AddOnItem[];
  plans?: PlanItem[];
  coupons?: CouponItem[];
  walletCredits?: WalletItem[];
}
