/** Types of alerts of a subscription, by what they compare. Rule: alerts.md#types. */
export const SUBSCRIPTION_ALERT_TYPES = [
  'current_usage_amount',
  'billable_metric_current_usage_amount',
  'billable_metric_current_usage_units',
  'lifetime_usage_amount',
  'billable_metric_lifetime_usage_units',
] as const;
export type SubscriptionAlertType = (typeof SUBSCRIPTION_ALERT_TYPES)[number];

/** Types of alerts of a wallet. */
export const WALLET_ALERT_TYPES = [
  'wallet_balance_amount',
  'wallet_credits_balance',
  'wallet_ongoing_balance_amount',
  'wallet_credits_ongoing_balance',
] as const;
export type WalletAlertType = (typeof WALLET_ALERT_TYPES)[number];

export type AlertType = SubscriptionAlertType | WalletAlertType;

/** The direction in which a value crosses its thresholds: usage grows, a balance shrinks. */
export type AlertDirection = 'increasing' | 'decreasing';

export const directionOf = (type: AlertType): AlertDirection =>
  type.startsWith('wallet_') ? 'decreasing' : 'increasing';

/** Whether the alert is about one metric. */
export const isOfMetric = (type: AlertType): boolean => type.startsWith('billable_metric_');
