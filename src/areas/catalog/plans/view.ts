import { present, seconds } from '../../../platform/schema/view.ts';
import { chargeView } from '../charges/view.ts';
import { planEntitlementView } from '../entitlements/view.ts';
import { fixedChargeView } from '../fixed-charges/view.ts';
import { commitmentView } from '../minimum-commitments/view.ts';
import { taxView } from '../taxes/view.ts';
import { applicableThresholdView, usageThresholdView } from '../usage-thresholds/view.ts';
import type { PlanView } from './schema.ts';
import type { PlanShown } from './show-plans.ts';

/** A plan as the API shows it, its charges in the order in which they were made. Rule: plans.md#fields. */
export const planView = ({
  plan,
  charges,
  fixedCharges,
  taxes,
  commitmentTaxes,
  thresholds,
  applicableThresholds,
}: PlanShown): PlanView => ({
  svc_id: plan.id,
  name: plan.name,
  ...present({
    invoice_display_name: plan.invoice_display_name,
    description: plan.description,
    trial_period: plan.trial_period?.toNumber(),
  }),
  created_at: seconds(plan.created_at),
  code: plan.code,
  interval: plan.interval,
  amount_cents: plan.amount_cents,
  amount_currency: plan.amount_currency,
  pay_in_advance: plan.pay_in_advance,
  bill_charges_monthly: plan.bill_charges_monthly,
  bill_fixed_charges_monthly: plan.bill_fixed_charges_monthly,
  parent_id: plan.parent_id,
  pending_deletion: plan.pending_deletion,
  customers_count: 0,
  active_subscriptions_count: 0,
  draft_invoices_count: 0,
  charges: charges.map(chargeView),
  fixed_charges: fixedCharges.map((shown) => fixedChargeView(shown)),
  taxes: taxes.map(taxView),
  entitlements: plan.entitlements.map((grant) => ({ entitlement: planEntitlementView(grant) })),
  usage_thresholds: thresholds.map(usageThresholdView),
  applicable_usage_thresholds: applicableThresholds.map(applicableThresholdView),
  ...(plan.minimum_commitment === null
    ? {}
    : { minimum_commitment: commitmentView(plan.minimum_commitment, plan, commitmentTaxes) }),
  ...(plan.metadata === null ? {} : { metadata: plan.metadata }),
  ...(plan.usage_policies === null ? {} : { usage_policies: plan.usage_policies }),
});
