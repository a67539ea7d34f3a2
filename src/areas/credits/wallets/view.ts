import type { Temporal } from 'temporal-polyfill';
import { decimalText } from '../../../engine/money/decimal.ts';
import type { PaymentMethodId } from '../../../platform/ids.ts';
import { present, seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { selectedSectionView } from '../../customers/invoice-custom-sections/view.ts';
import type { WalletRow } from './queries.ts';
import type { RuleRow } from './top-up-rule-queries.ts';

/** How something is paid; without a choice by the customer's provider. */
export const paymentMethodView = (row: {
  payment_method_type: string | null;
  payment_method_id?: PaymentMethodId | null;
}) => ({
  payment_method_type: row.payment_method_type ?? 'provider',
  ...present({ payment_method_id: row.payment_method_id ?? null }),
});

/** A recurring rule as the API shows it. Rule: top-ups.md#recurring-rules. */
export const ruleView = (rule: RuleRow) => ({
  svc_id: rule.id,
  trigger: rule.trigger,
  method: rule.method,
  // The contract has no rule without this field; for a threshold rule it means nothing.
  interval: rule.interval ?? 'monthly',
  status: rule.status,
  threshold_credits: decimalText(rule.threshold_credits),
  paid_credits: decimalText(rule.paid_credits),
  granted_credits: decimalText(rule.granted_credits),
  target_ongoing_balance: rule.target_ongoing_balance === null ? null : decimalText(rule.target_ongoing_balance),
  grants_target_top_up: rule.grants_target_top_up,
  started_at: secondsOrNull(rule.started_at),
  expiration_at: secondsOrNull(rule.expiration_at),
  invoice_requires_successful_payment: rule.invoice_requires_successful_payment,
  ignore_paid_top_up_limits: rule.ignore_paid_top_up_limits,
  transaction_name: rule.transaction_name,
  transaction_metadata: rule.transaction_metadata,
  payment_method: paymentMethodView(rule),
  purchase_order_number: rule.purchase_order_number,
  applied_invoice_custom_sections: rule.custom_sections.map(selectedSectionView),
  created_at: seconds(rule.created_at),
});

/** A wallet without its rules: as its transactions show it. Rule: wallets.md#fields. */
export const walletBaseView = (wallet: WalletRow) => ({
  svc_id: wallet.id,
  svc_customer_id: wallet.customer_id,
  external_customer_id: wallet.external_customer_id,
  billing_entity_code: wallet.billing_entity_code,
  status: wallet.status,
  currency: wallet.currency,
  name: wallet.name,
  code: wallet.code,
  priority: wallet.priority,
  rate_amount: decimalText(wallet.rate_amount),
  credits_balance: decimalText(wallet.credits_balance),
  balance_cents: wallet.balance_cents,
  credits_ongoing_balance: decimalText(wallet.credits_ongoing_balance),
  ongoing_balance_cents: wallet.ongoing_balance_cents,
  credits_ongoing_usage_balance: decimalText(wallet.credits_ongoing_usage_balance),
  ongoing_usage_balance_cents: wallet.ongoing_usage_balance_cents,
  consumed_credits: decimalText(wallet.consumed_credits),
  applies_to: { fee_types: wallet.allowed_fee_types, billable_metric_codes: wallet.billable_metric_codes },
  paid_top_up_min_amount_cents: wallet.paid_top_up_min_amount_cents,
  paid_top_up_max_amount_cents: wallet.paid_top_up_max_amount_cents,
  invoice_requires_successful_payment: wallet.invoice_requires_successful_payment,
  payment_method: paymentMethodView(wallet),
  purchase_order_number: wallet.purchase_order_number,
  applied_invoice_custom_sections: wallet.custom_sections.map(selectedSectionView),
  expiration_at: secondsOrNull(wallet.expiration_at),
  last_balance_sync_at: secondsOrNull(wallet.last_balance_sync_at),
  last_consumed_credit_at: secondsOrNull(wallet.last_consumed_credit_at),
  terminated_at: secondsOrNull(wallet.terminated_at),
  created_at: seconds(wallet.created_at),
  ...present({ metadata: wallet.metadata }),
});

/** A wallet as the API shows it, with the rules that hold at `now`. */
export const walletView = (wallet: WalletRow, rules: readonly RuleRow[], now: Temporal.Instant) => ({
  ...walletBaseView(wallet),
  recurring_transaction_rules: rules
    .filter((rule) => rule.wallet_id === wallet.id && isInForce(rule, now))
    .map(ruleView),
});

/** An expired rule does nothing from that instant on, whenever its job ends it. Rule: top-ups.md#recurring-rules. */
export const isInForce = (rule: Pick<RuleRow, 'expiration_at'>, now: Temporal.Instant): boolean =>
  rule.expiration_at === null || rule.expiration_at.epochNanoseconds > now.epochNanoseconds;
