import { t } from '../../texts/en.ts';

const REASONS: Record<string, string> = {
  metric_not_found: t.events.reasonNoMetric,
  subscription_missing: t.events.reasonNoSubscriptionNamed,
  subscription_not_found: t.events.reasonNoSubscription,
  subscription_pending: t.events.reasonPending,
  before_subscription: t.events.reasonBefore,
  after_subscription: t.events.reasonAfter,
  no_charge: t.events.reasonNoCharge,
  property_missing: t.events.reasonNoProperty,
  property_not_numeric: t.events.reasonNotNumeric,
};

/** Why nothing bills an event. */
export const reasonWords = (reason: string): string => REASONS[reason] ?? reason.replaceAll('_', ' ');
