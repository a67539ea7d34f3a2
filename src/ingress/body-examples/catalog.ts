import { ID } from './ids.ts';

const charge = {
  billable_metric_id: ID,
  code: 'calls',
  charge_model: 'standard',
  properties: { amount: '0.05' },
};
const filter = {
  values: { region: ['eu'] },
  properties: { amount: '0.30' },
  invoice_display_name: 'Calls from Europe',
};
const fixedCharge = { add_on_code: 'seat', charge_model: 'standard', units: '10', properties: { amount: '5' } };
const metadata = { color: 'blue' };
const entitlements = { seats: { max: 5 } };

/** Bodies of requests about plans and what they are made of. */
export const CATALOG_EXAMPLES: Readonly<Record<string, object>> = {
  createBillableMetric: {
    billable_metric: { name: 'Storage', code: 'storage', aggregation_type: 'sum_agg', field_name: 'gb' },
  },
  updateBillableMetric: { billable_metric: { name: 'Storage in GB', description: 'What files take' } },
  evaluateBillableMetricExpression: {
    expression: 'event.properties.mb / 1024',
    event: { code: 'storage', timestamp: 1893456000, properties: { mb: 2048 } },
  },
  createPlan: {
    plan: {
      name: 'Starter',
      code: 'starter',
      interval: 'monthly',
      amount_cents: 1000,
      amount_currency: 'USD',
      pay_in_advance: false,
      charges: [charge],
    },
  },
  updatePlan: { plan: { name: 'Starter', amount_cents: 1200, cascade_updates: true } },
  createPlanCharge: { charge },
  updatePlanCharge: { charge: { charge_model: 'standard', properties: { amount: '0.04' } } },
  destroyPlanCharge: { charge: { cascade_updates: true } },
  createPlanChargeFilter: { filter },
  updatePlanChargeFilter: { filter: { ...filter, properties: { amount: '0.25' } } },
  destroyPlanChargeFilter: { filter: { cascade_updates: true } },
  createPlanFixedCharge: { fixed_charge: fixedCharge },
  updatePlanFixedCharge: { fixed_charge: { units: '12', apply_units_immediately: true } },
  destroyPlanFixedCharge: { fixed_charge: { cascade_updates: true } },
  replacePlanMetadata: { metadata },
  mergePlanMetadata: { metadata },
  createEntitlement: { entitlements },
  updateEntitlement: { entitlements },
  updateSubscriptionEntitlements: { entitlements },
  addPriceEntries: {
    entries: [{ provider: 'anthropic', model: 'beta', kind: 'input', cost: '3', valid_from: '2026-03-01T00:00:00Z' }],
  },
  importPrices: { 'anthropic/beta': { litellm_provider: 'anthropic', input_cost_per_token: 0.000003 } },
  putPriceAliases: {
    aliases: [{ provider: 'azure', pattern: 'prod-*', target_provider: 'openai', target_model: 'alpha' }],
  },
  createFeature: {
    feature: { code: 'seats', name: 'Seats', privileges: [{ code: 'max', name: 'Most seats', value_type: 'integer' }] },
  },
  updateFeature: { feature: { name: 'Seats of the team', privileges: [{ code: 'max', name: 'Most seats' }] } },
  setFeatureUsageLimits: {
    usage_limits: [{ privilege_code: 'max_calls', billable_metric_code: 'calls', period: 'month' }],
  },
  createPricingUnit: { pricing_unit: { code: 'credit', name: 'Credits', short_name: 'CR' } },
  updatePricingUnit: { pricing_unit: { name: 'Credits', description: 'Worth a cent each' } },
  estimateCharge: {
    charge_estimate: {
      charge_model: 'package',
      properties: { amount: '100', package_size: 10, free_units: 5 },
      currency: 'USD',
      units: ['15.01', '200'],
    },
  },
  createAddOn: { add_on: { name: 'Setup', code: 'setup', amount_cents: 9900, amount_currency: 'USD' } },
  updateAddOn: { add_on: { amount_cents: 12000 } },
  createCoupon: {
    coupon: {
      name: 'Welcome',
      code: 'welcome',
      coupon_type: 'percentage',
      percentage_rate: '20',
      frequency: 'recurring',
      frequency_duration: 3,
      expiration: 'no_expiration',
    },
  },
  updateCoupon: { coupon: { expiration: 'time_limit', expiration_at: '2030-12-31T00:00:00Z' } },
  applyCoupon: { applied_coupon: { external_customer_id: 'ada', coupon_code: 'welcome' } },
  createTax: { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } },
  updateTax: { tax: { rate: '19' } },
  createInvoiceCustomSection: {
    invoice_custom_section: {
      code: 'terms',
      name: 'Terms of payment',
      display_name: 'Payment',
      details: 'Payable within 30 days.',
    },
  },
  updateInvoiceCustomSection: { invoice_custom_section: { details: 'Payable within 14 days.' } },
};
