import { expect } from 'vitest';
import type { ClientStory } from './story.ts';

/** Taxes, add-ons, metrics and coupons: each made, found, listed and changed. */
export async function fillCatalog({ api }: ClientStory): Promise<void> {
  const { data: tax } = await api.taxes.createTax({ tax: { name: 'VAT', code: 'vat', rate: '20' } });
  expect(tax.tax).toMatchObject({ code: 'vat', rate: 20 });
  await api.taxes.updateTax('vat', { tax: { description: 'value added' } });
  expect((await api.taxes.findTax('vat')).data.tax.description).toBe('value added');
  expect((await api.taxes.findAllTaxes({ per_page: 5 })).data.taxes).toHaveLength(1);

  await api.addOns.createAddOn({
    add_on: { name: 'Seat', code: 'seat', amount_cents: 1000, amount_currency: 'EUR', tax_codes: ['vat'] },
  });
  await api.addOns.updateAddOn('seat', { add_on: { name: 'Chair' } });
  expect((await api.addOns.findAddOn('seat')).data.add_on.name).toBe('Chair');
  expect((await api.addOns.findAllAddOns()).data.add_ons).toHaveLength(1);

  const metric = {
    name: 'Calls',
    code: 'calls',
    aggregation_type: 'sum_agg',
    field_name: 'n',
    recurring: false,
  } as const;
  await api.billableMetrics.createBillableMetric({
    billable_metric: { ...metric, filters: [{ key: 'region', values: ['eu', 'us'] }] },
  });
  await api.billableMetrics.createBillableMetric({
    billable_metric: { ...metric, name: 'Stores', code: 'stores' },
  });
  await api.billableMetrics.updateBillableMetric('calls', { billable_metric: { name: 'API calls' } });
  expect((await api.billableMetrics.findBillableMetric('calls')).data.billable_metric.name).toBe('API calls');
  expect((await api.billableMetrics.findAllBillableMetrics()).data.billable_metrics).toHaveLength(2);
  const evaluated = await api.billableMetrics.evaluateBillableMetricExpression({
    expression: 'round(event.properties.value * 2)',
    event: { code: 'calls', timestamp: 1651240791, properties: { value: 1.3 } },
  });
  expect(evaluated.data.expression_result.value).toBe('3.0');

  const coupon = {
    name: 'Ten off',
    code: 'ten',
    coupon_type: 'percentage',
    percentage_rate: '10',
    frequency: 'once',
    expiration: 'no_expiration',
    reusable: true,
  } as const;
  await api.coupons.createCoupon({ coupon });
  await api.coupons.updateCoupon('ten', { coupon: { ...coupon, name: 'Ten percent' } });
  expect((await api.coupons.findCoupon('ten')).data.coupon.name).toBe('Ten percent');
  expect((await api.coupons.findAllCoupons()).data.coupons).toHaveLength(1);
}

/** Plans with their metadata, charges, filters and fixed charges. */
export async function fillPlans({ api }: ClientStory): Promise<void> {
  const { data: metric } = await api.billableMetrics.findBillableMetric('calls');
  const { data: stores } = await api.billableMetrics.findBillableMetric('stores');
  await api.plans.createPlan({
    plan: {
      name: 'Plan',
      code: 'plan',
      interval: 'monthly',
      amount_cents: 5000,
      amount_currency: 'EUR',
      pay_in_advance: false,
      metadata: { color: 'red' },
      tax_codes: ['vat'],
    },
  });
  await api.plans.updatePlan('plan', { plan: { name: 'Standard' } });
  expect((await api.plans.findPlan('plan')).data.plan).toMatchObject({ name: 'Standard', metadata: { color: 'red' } });
  await api.plans.replacePlanMetadata('plan', { metadata: { a: '1' } });
  await api.plans.mergePlanMetadata('plan', { metadata: { b: '2' } });
  expect((await api.plans.deletePlanMetadataKey('plan', 'a')).data.metadata).toEqual({ b: '2' });
  await api.plans.deleteAllPlanMetadata('plan');
  expect((await api.plans.findAllPlans()).data.plans).toHaveLength(1);

  const charge = { charge_model: 'standard', pay_in_advance: false, invoiceable: true } as const;
  await api.plans.createPlanCharge('plan', {
    charge: {
      ...charge,
      billable_metric_id: metric.billable_metric.lago_id,
      code: 'calls',
      properties: { amount: '1' },
    },
  });
  // A fee of its own, on no invoice, for each event.
  await api.plans.createPlanCharge('plan', {
    charge: {
      billable_metric_id: stores.billable_metric.lago_id,
      code: 'stores',
      charge_model: 'standard',
      pay_in_advance: true,
      invoiceable: false,
      properties: { amount: '3' },
    },
  });
  await api.plans.createPlanCharge('plan', {
    charge: {
      ...charge,
      billable_metric_id: stores.billable_metric.lago_id,
      code: 'gone',
      properties: { amount: '1' },
    },
  });
  await api.plans.destroyPlanCharge('plan', 'gone', { charge: { cascade_updates: true } });
  await api.plans.updatePlanCharge('plan', 'calls', { charge: { invoice_display_name: 'Calls' } });
  expect((await api.plans.findPlanCharge('plan', 'calls')).data.charge.invoice_display_name).toBe('Calls');
  expect((await api.plans.findAllPlanCharges('plan')).data.charges).toHaveLength(2);

  const filters: string[] = [];
  for (const region of ['eu', 'us']) {
    const made = await api.plans.createPlanChargeFilter('plan', 'calls', {
      filter: { values: { region: [region] }, properties: { amount: '2' } },
    });
    filters.push(made.data.filter.lago_id);
  }
  const [kept, dropped] = filters as [string, string];
  await api.plans.updatePlanChargeFilter('plan', 'calls', kept, { filter: { invoice_display_name: 'Europe' } });
  const found = await api.plans.findPlanChargeFilter('plan', 'calls', kept);
  expect(found.data.filter.invoice_display_name).toBe('Europe');
  await api.plans.destroyPlanChargeFilter('plan', 'calls', dropped, { filter: { cascade_updates: false } });
  expect((await api.plans.findAllPlanChargeFilters('plan', 'calls')).data.filters).toHaveLength(1);

  for (const code of ['seats', 'chairs'])
    await api.plans.createPlanFixedCharge('plan', {
      fixed_charge: { add_on_code: 'seat', code, charge_model: 'standard', units: '2', properties: { amount: '10' } },
    });
  await api.plans.updatePlanFixedCharge('plan', 'seats', { fixed_charge: { invoice_display_name: 'Seats' } });
  expect((await api.plans.findPlanFixedCharge('plan', 'seats')).data.fixed_charge.units).toBe(2);
  await api.plans.destroyPlanFixedCharge('plan', 'chairs', { fixed_charge: { cascade_updates: false } });
  expect((await api.plans.findAllPlanFixedCharges('plan')).data.fixed_charges).toHaveLength(1);
}

/** The organization, its billing entities and where it is notified. */
export async function settleOrganization({ api }: ClientStory): Promise<void> {
  expect((await api.organizations.findOrganization()).data.organization.name).toBe('Acme');
  const changed = await api.organizations.updateOrganization({ organization: { city: 'Ghent', country: 'BE' } });
  expect(changed.data.organization).toMatchObject({ city: 'Ghent', country: 'BE' });

  await api.billingEntities.createBillingEntity({ billing_entity: { name: 'Branch', code: 'branch' } });
  await api.billingEntities.updateBillingEntity('branch', { billing_entity: { email: 'branch@example.com' } });
  expect((await api.billingEntities.getBillingEntity('branch')).data.billing_entity.email).toBe('branch@example.com');
  expect((await api.billingEntities.listBillingEntities()).data.billing_entities).toHaveLength(2);

  const made = await api.webhookEndpoints.createWebhookEndpoint({
    webhook_endpoint: { webhook_url: 'http://127.0.0.1:4999/hooks', signature_algo: 'hmac' },
  });
  const id = made.data.webhook_endpoint.lago_id;
  await api.webhookEndpoints.updateWebhookEndpoint(id, {
    webhook_endpoint: { webhook_url: 'http://127.0.0.1:4999/hooks', signature_algo: 'jwt' },
  });
  expect((await api.webhookEndpoints.findWebhookEndpoint(id)).data.webhook_endpoint.signature_algo).toBe('jwt');
  expect((await api.webhookEndpoints.findAllWebhookEndpoints()).data.webhook_endpoints).toHaveLength(1);
  await api.webhookEndpoints.destroyWebhookEndpoint(id);
  expect((await api.webhooks.fetchJsonPublicKey()).data.webhook.public_key).toMatch(/^[\w+/=\n]+$/);
  await api.webhooks.fetchPublicKey();
}

/** Features with their privileges, and what plans grant of them. */
export async function grantFeatures({ api }: ClientStory): Promise<void> {
  for (const code of ['seats', 'sso'])
    await api.features.createFeature({
      feature: {
        code,
        name: code,
        privileges: [
          { code: 'max', name: 'Most', value_type: 'integer' },
          { code: 'root', value_type: 'boolean' },
        ],
      },
    });
  await api.features.updateFeature('seats', { feature: { name: 'Places' } });
  expect((await api.features.findFeature('seats')).data.feature.name).toBe('Places');
  expect((await api.features.findAllFeatures({ search_term: 'sso' })).data.features).toHaveLength(1);

  await api.plans.createEntitlement('plan', { entitlements: { seats: { max: 10 }, sso: { max: 1, root: true } } });
  await api.plans.updateEntitlement('plan', { entitlements: { seats: { max: 20, root: false } } });
  expect((await api.plans.findEntitlement('plan', 'seats')).data.entitlement.privileges).toHaveLength(2);
  expect((await api.plans.findAllEntitlements('plan')).data.entitlements).toHaveLength(2);
  await api.plans.removeEntitlementPrivilege('plan', 'sso', 'root');
  await api.plans.destroyEntitlement('plan', 'sso');
  await api.features.deleteFeaturePrivilege('sso', 'root');
  await api.features.destroyFeature('sso');
}
