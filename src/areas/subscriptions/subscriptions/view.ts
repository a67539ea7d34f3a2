import type { Temporal } from 'temporal-polyfill';
import { periodHolding } from '../../../engine/calendar/grid.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { shownEnd, shownStart } from '../../../engine/calendar/period.ts';
import { gridsOf } from '../../../engine/calendar/terms.ts';
import { currentBillingPeriod } from '../../../engine/calendar/windows.ts';
import { millisecondsOrNull, seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { selectedSectionView } from '../../customers/invoice-custom-sections/view.ts';
import { activationRuleView } from './activation-rules.ts';
import type { SubscriptionShown } from './queries.ts';

/** A subscription as the API shows it at `now`. Rule: subscriptions.md#fields. */
export function subscriptionView(row: SubscriptionShown, now: Temporal.Instant) {
  const current = row.started_at === null ? null : currentBillingPeriod(row, row, row.zone, now);
  return {
    svc_id: row.id,
    external_id: row.external_id,
    svc_customer_id: row.customer_id,
    external_customer_id: row.external_customer_id,
    billing_entity_code: row.billing_entity_code,
    name: row.name,
    plan_code: row.plan_code,
    plan_amount_cents: row.plan_amount_cents,
    plan_amount_currency: row.plan_amount_currency,
    status: row.status,
    billing_time: row.billing_time,
    subscription_at: seconds(row.subscription_at),
    started_at: millisecondsOrNull(row.started_at),
    activated_at: secondsOrNull(row.activated_at),
    trial_ended_at: secondsOrNull(row.trial_ended_at),
    ending_at: secondsOrNull(row.ending_at),
    terminated_at: secondsOrNull(row.terminated_at),
    canceled_at: secondsOrNull(row.canceled_at),
    cancellation_reason: row.cancellation_reason,
    created_at: seconds(row.created_at),
    previous_plan_code: row.previous_plan_code,
    next_plan_code: row.next_plan_code,
    downgrade_plan_date: downgradeDate(row, now)?.toString() ?? null,
    current_billing_period_started_at: current === null ? null : seconds(shownStart(current)),
    current_billing_period_ending_at: current === null ? null : seconds(shownEnd(current)),
    on_termination_credit_note: row.on_termination_credit_note,
    on_termination_invoice: row.on_termination_invoice,
    consolidate_invoice: row.consolidate_invoice,
    progressive_billing_disabled: row.progressive_billing_disabled,
    purchase_order_number: row.purchase_order_number,
    ...(row.buyer_reference === null ? {} : { buyer_reference: row.buyer_reference }),
    payment_method: {
      payment_method_type: row.payment_method_type ?? 'provider',
      ...(row.payment_method_id === null ? {} : { payment_method_id: row.payment_method_id }),
    },
    activation_rules: row.activation_rules.map(activationRuleView),
    applied_invoice_custom_sections: row.custom_sections.map(selectedSectionView),
  };
}

/** The day on which a plan of a smaller yearly amount takes over or took over: the end of the running period. */
function downgradeDate(row: SubscriptionShown, now: Temporal.Instant): Temporal.PlainDate | undefined {
  if (row.next_status === 'pending' && row.started_at !== null) {
    const running = periodHolding(gridsOf(row, row, row.zone).plan, localDate(now, row.zone));
    return running.last.add({ days: 1 });
  }
  if (row.next_status !== 'active' || row.next_started_at === null) return undefined;
  return row.next_switch_kind === 'upgrade' ? undefined : localDate(row.next_started_at, row.zone);
}
