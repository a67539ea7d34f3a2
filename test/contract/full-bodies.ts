import type { Client } from '../support/client.ts';
import type { World } from './world.ts';

/** Paths (with the world's identifiers where there is no row) and whole bodies that are accepted, by operation. */
export interface Sendable {
  path?: string;
  body: object;
}

const address = { address_line1: '1 Road', address_line2: '', city: 'Bonn', state: 'NW', zipcode: '1', country: 'DE' };
const place = {
  ...address,
  email: 'a@example.com',
  legal_name: 'Legal',
  legal_number: '1',
  tax_identification_number: '1',
};
const settings = { timezone: 'UTC', net_payment_term: 3, document_numbering: 'per_customer', default_currency: 'EUR' };
const billingConfiguration = {
  invoice_footer: 'Thanks',
  invoice_grace_period: 1,
  document_locale: 'en',
  subscription_invoice_issuing_date_anchor: 'next_period_start',
  subscription_invoice_issuing_date_adjustment: 'keep_anchor',
};
const section = { skip_invoice_custom_sections: false, invoice_custom_section_codes: ['terms'] };
const manual = { payment_method_type: 'manual' };
const thresholds = [{ amount_cents: 100, threshold_display_name: 'First', recurring: false }];
const metadata = { color: 'blue' };
const coupon = {
  name: 'Fresh',
  code: 'fresh',
  description: 'Words',
  coupon_type: 'fixed_amount',
  amount_cents: 100,
  amount_currency: 'EUR',
  percentage_rate: null,
  frequency: 'recurring',
  frequency_duration: 2,
  reusable: true,
  expiration: 'time_limit',
  expiration_at: '2030-01-01T00:00:00Z',
  applies_to: { plan_codes: ['plan'], billable_metric_codes: [] },
};
const commitment = { amount_cents: 1000, invoice_display_name: 'Least', tax_codes: ['tax'] };
const fixedCharge = {
  add_on_code: 'seat',
  code: 'fresh',
  charge_model: 'graduated',
  invoice_display_name: 'Seats',
  units: '2',
  pay_in_advance: false,
  prorated: false,
  apply_units_immediately: false,
  properties: { graduated_ranges: [{ from_value: 0, to_value: null, per_unit_amount: '1', flat_amount: '0' }] },
  tax_codes: ['tax'],
};
const rule = {
  trigger: 'interval',
  interval: 'monthly',
  method: 'target',
  target_ongoing_balance: '10',
  grants_target_top_up: false,
  started_at: '2030-01-01T00:00:00Z',
  expiration_at: '2031-01-01T00:00:00Z',
  invoice_requires_successful_payment: false,
  ignore_paid_top_up_limits: false,
  transaction_name: 'Top-up',
  transaction_metadata: [{ key: 'a', value: 'b' }],
  payment_method: manual,
  purchase_order_number: 'PO',
};
const wallet = {
  name: 'Fresh',
  code: 'fresh',
  priority: 3,
  expiration_at: '2030-01-01T00:00:00Z',
  invoice_requires_successful_payment: false,
  paid_top_up_min_amount_cents: 1,
  paid_top_up_max_amount_cents: 100000,
  applies_to: { fee_types: ['charge'], billable_metric_codes: ['calls'] },
  recurring_transaction_rules: [rule],
  payment_method: manual,
  invoice_custom_section: section,
  purchase_order_number: 'PO',
  metadata,
  rate_amount: '1',
  currency: 'EUR',
};
const newWallet = {
  ...wallet,
  paid_credits: '10',
  granted_credits: '5',
  ignore_paid_top_up_limits_on_creation: false,
  transaction_name: 'First',
  transaction_priority: 2,
  transaction_metadata: [{ key: 'a', value: 'b' }],
};
const alert = {
  alert_type: 'billable_metric_current_usage_amount',
  code: 'fresh',
  name: 'Fresh',
  billable_metric_code: 'calls',
  thresholds: [{ code: 'first', value: 10, recurring: false }],
};
const walletAlert = {
  alert_type: 'wallet_balance_amount',
  code: 'fresh',
  name: 'Fresh',
  thresholds: [{ code: 'first', value: 10, recurring: false }],
};
const hold = { amount_cents: 100, expires_in_seconds: 60, reference: 'ref', external_subscription_id: 'running' };
const event = {
  transaction_id: 'fresh',
  external_subscription_id: 'running',
  code: 'calls',
  timestamp: 1704200000,
  precise_total_amount_cents: '1.5',
  properties: { n: 1, region: 'eu' },
};
const campaign = {
  code: 'fresh',
  name: 'Fresh',
  description: 'Words',
  days_between_attempts: 2,
  max_attempts: 3,
  bcc_emails: ['a@example.com'],
  thresholds: [{ amount_cents: 5, currency: 'EUR' }],
  applied_to_organization: false,
};
const recipients = { to: ['a@example.com'], cc: ['b@example.com'], bcc: [] };
const provider = {
  type: 'sandbox',
  code: 'fresh',
  name: 'Fresh',
  success_redirect_url: 'https://example.com/done',
  emulates: 'adyen',
  supports_3ds: true,
};
const endpoint = {
  webhook_url: 'https://example.com/fresh',
  signature_algo: 'hmac',
  name: 'Fresh',
  event_types: ['invoice.created'],
  enabled: true,
};

/** Bodies with as many fields as go together. A few need records of their own, which are made here. */
export async function fullBodies(client: Client, world: World): Promise<Record<string, Sendable>> {
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const answered = async (answer: ReturnType<Client['get']>): Promise<any> => {
    const { status, text, body } = await answer;
    if (status !== 200) throw new Error(text);
    return body;
  };
  const { billable_metric } = await answered(client.get('/billable_metrics/calls'));
  const { add_on } = await answered(client.get('/add_ons/seat'));
  const { plan } = await answered(client.get('/plans/plan'));
  const items = {
    addOns: [
      {
        id: add_on.svc_id,
        localId: 'seat',
        type: 'add_on',
        payload: { code: 'seat', units: 1, unitAmountCents: 1000, totalAmountCents: 1000 },
      },
    ],
  };
  const quoted = { billing_items: items, content: 'Words', currency: 'EUR' };
  const quote = { ...quoted, external_customer_id: 'somebody', order_type: 'one_off' };
  const { quote: draft } = await answered(client.post('/quotes', { quote }));
  const { quote: accepted } = await answered(client.post('/quotes', { quote }));
  await answered(client.post(`/quote_versions/${accepted.current_version.svc_id}/approve`, {}));
  const { order_forms: forms } = await answered(client.get('/order_forms'));
  const amended = { external_subscription_id: 'running', transaction_id: 'event' };
  await answered(
    client.post('/customers', {
      customer: { external_id: 'waiting', currency: 'EUR', billing_configuration: { invoice_grace_period: 30 } },
    }),
  );
  const { invoice: open } = await answered(
    client.post('/invoices', {
      invoice: { external_customer_id: 'waiting', currency: 'EUR', fees: [{ add_on_code: 'seat', units: 1 }] },
    }),
  );
  const { invoice } = await answered(client.get(`/invoices/${world.invoices!.svc_id}`));
  const { e_documents: documents } = await answered(client.get('/e_documents'));
  const { invoices: overdue } = await answered(client.get('/customers/late/invoices'));
  const feeId = invoice.fees[0].svc_id;
  const charge = {
    billable_metric_id: billable_metric.svc_id,
    code: 'fresh',
    charge_model: 'graduated',
    invoice_display_name: 'Calls',
    pay_in_advance: false,
    prorated: false,
    invoiceable: true,
    min_amount_cents: 100,
    accepts_target_wallet: false,
    properties: {
      graduated_ranges: [
        { from_value: 0, to_value: 10, per_unit_amount: '1', flat_amount: '0' },
        { from_value: 11, to_value: null, per_unit_amount: '0.5', flat_amount: '1' },
      ],
    },
    filters: [
      {
        invoice_display_name: 'East',
        values: { region: ['eu'] },
        properties: {
          graduated_ranges: [{ from_value: 0, to_value: null, per_unit_amount: '1', flat_amount: '0' }],
        },
      },
    ],
    tax_codes: ['tax'],
    applied_pricing_unit: { code: 'token', conversion_rate: '2' },
  };
  const standing = { charge_model: 'standard', properties: { amount: '3', grouped_by: ['n'] } };
  const planBody = {
    name: 'Fresh',
    invoice_display_name: 'Fresh',
    code: 'fresh',
    description: 'Words',
    interval: 'yearly',
    pay_in_advance: true,
    amount_cents: 100,
    amount_currency: 'EUR',
    trial_period: 3,
    bill_charges_monthly: true,
    bill_fixed_charges_monthly: true,
    tax_codes: ['tax'],
    metadata,
    fixed_charges: [fixedCharge],
    usage_thresholds: thresholds,
    minimum_commitment: commitment,
    usage_policies: { corrections: 'next_invoice', late_events: 'ignore' },
    charges: [charge],
  };
  const overrides = {
    name: 'Own',
    amount_cents: 50,
    amount_currency: 'EUR',
    trial_period: 1,
    tax_codes: ['tax'],
    minimum_commitment: commitment,
    usage_thresholds: thresholds,
    charges: [{ id: plan.charges[0].svc_id, ...standing, min_amount_cents: 0, tax_codes: ['tax'], filters: [] }],
    fixed_charges: [{ id: plan.fixed_charges[0].svc_id, units: '3', properties: { amount: '5' } }],
  };
  const subscription = {
    name: 'Fresh',
    ending_at: '2030-01-01T00:00:00Z',
    plan_overrides: overrides,
    activation_rules: [{ type: 'payment', timeout_hours: 2 }],
    payment_method: { payment_method_type: 'provider', payment_method_id: world.customers!.svc_id },
    invoice_custom_section: section,
    purchase_order_number: 'PO',
    consolidate_invoice: true,
    progressive_billing_disabled: false,
  };
  const entity = { ...place, ...settings, billing_configuration: billingConfiguration, email_settings: [], phone: '1' };
  const writes = { expires_in_hours: 1 };
  const replay = { from: '2024-01-01T00:00:00Z', to: '2024-01-02T00:00:00Z', statuses: ['failed'], event_types: [] };
  const budget = {
    code: 'fresh',
    name: 'Fresh',
    scope: 'organization',
    codes: ['calls'],
    match: { team: 'red' },
    group_by: ['user'],
    measure: 'units',
    billable_metric_code: 'calls',
    period: 'month',
    timezone: 'UTC',
    mode: 'hard',
    limit: '1000',
    overrides: [{ values: ['u1'], limit: '10' }],
    alert_percents: [50],
    on_outage: 'closed',
    offline_allowance: '0',
    unknown_price: 'deny',
  };
  const decision = {
    hold_key: 'fresh',
    external_subscription_id: 'running',
    code: 'calls',
    properties: { user: 'u1' },
    units: '1',
    estimate: { provider: 'openai', model: 'alpha', tier: 'standard', input_tokens: 3, max_output_tokens: 4 },
    allow_partial: false,
    expires_in_seconds: 60,
  };
  const call = {
    external_subscription_id: 'running',
    transaction_id: 'fresh-call',
    provider: 'openai',
    model: 'alpha',
    tier: 'standard',
    parts: { input: 3 },
    properties: { team: 'red' },
    reported_cost: '0.001',
  };
  const price = {
    provider: 'openai',
    model: 'alpha',
    tier: 'batch',
    kind: 'input',
    cost: '1.25',
    sell: '2',
    per: 1_000_000,
    min_input_tokens: 0,
    currency: 'USD',
    valid_from: '2024-01-01T00:00:00Z',
    source: 'contract',
    source_ref: 'order 17',
  };

  return {
    createEvent: { body: { event } },
    createBatchEvents: { body: { events: [event, { ...event, transaction_id: 'second' }] } },
    createPlanCharge: { body: { charge } },
    updatePlanCharge: { body: { charge: { ...standing, invoice_display_name: 'Calls', cascade_updates: true } } },
    destroyPlanCharge: { body: { charge: { cascade_updates: true } } },
    createPlanChargeFilter: {
      body: {
        filter: {
          invoice_display_name: 'West',
          values: { region: ['us'] },
          properties: { amount: '1' },
          cascade_updates: true,
        },
      },
    },
    updatePlanChargeFilter: {
      body: { filter: { invoice_display_name: 'East', values: { region: ['eu'] }, properties: { amount: '3' } } },
    },
    destroyPlanChargeFilter: { body: { filter: { cascade_updates: true } } },
    createPlanFixedCharge: { body: { fixed_charge: { ...fixedCharge, cascade_updates: true } } },
    updatePlanFixedCharge: {
      body: { fixed_charge: { units: '3', properties: { amount: '4' }, charge_model: 'standard', tax_codes: ['tax'] } },
    },
    destroyPlanFixedCharge: { body: { fixed_charge: { cascade_updates: true } } },
    overrideSubscriptionFixedCharge: { body: { fixed_charge: { units: '3', properties: { amount: '4' } } } },
    createPlan: { body: { plan: planBody } },
    updatePlan: { body: { plan: { name: 'Other', usage_thresholds: thresholds, minimum_commitment: commitment } } },
    replacePlanMetadata: { body: { metadata } },
    mergePlanMetadata: { body: { metadata } },
    createFeature: {
      body: {
        feature: {
          code: 'fresh',
          name: 'Fresh',
          description: 'Words',
          privileges: [
            { code: 'max', name: 'Most', value_type: 'integer' },
            { code: 'tier', name: 'Tier', value_type: 'select', config: { select_options: ['a', 'b'] } },
          ],
        },
      },
    },
    updateFeature: { body: { feature: { name: 'Other', privileges: [{ code: 'max', name: 'Most' }] } } },
    setFeatureUsageLimits: {
      body: { usage_limits: [{ privilege_code: 'max', billable_metric_code: 'calls', period: 'month' }] },
    },
    createEntitlement: { body: { entitlements: { seats: { max: 5 } } } },
    updateEntitlement: { body: { entitlements: { seats: { max: 5 } } } },
    updateSubscriptionEntitlements: { body: { entitlements: { seats: { max: 5 } } } },
    createPricingUnit: {
      body: { pricing_unit: { code: 'fresh', name: 'Fresh', short_name: 'FR', description: 'Words' } },
    },
    updatePricingUnit: { body: { pricing_unit: { name: 'Other', short_name: 'OT', description: 'Words' } } },
    createAddOn: {
      body: {
        add_on: {
          name: 'Fresh',
          invoice_display_name: 'Fresh',
          code: 'fresh',
          amount_cents: 10,
          amount_currency: 'EUR',
          description: 'Words',
          tax_codes: ['tax'],
        },
      },
    },
    updateAddOn: { body: { add_on: { name: 'Other', amount_cents: 20, amount_currency: 'EUR', tax_codes: ['tax'] } } },
    createBillableMetric: {
      body: {
        billable_metric: {
          name: 'Fresh',
          code: 'fresh',
          description: 'Words',
          aggregation_type: 'sum_agg',
          recurring: true,
          field_name: 'n',
          weighted_interval: null,
          rounding_function: 'round',
          rounding_precision: 2,
          expression: 'event.properties.n * 2',
          filters: [{ key: 'region', values: ['eu'] }],
        },
      },
    },
    evaluateBillableMetricExpression: {
      body: { expression: 'event.properties.n * 2', event: { code: 'calls', timestamp: 1, properties: { n: 1 } } },
    },
    updateBillableMetric: {
      body: { billable_metric: { name: 'Other', description: 'Words' } },
    },
    createBillingEntity: { body: { billing_entity: { ...entity, code: 'fresh', name: 'Fresh' } } },
    updateBillingEntity: {
      body: {
        billing_entity: {
          ...entity,
          name: 'Other',
          tax_codes: ['tax'],
          invoice_custom_section_codes: ['terms'],
          dunning_campaign_code: 'campaign',
          document_number_prefix: 'AB',
          finalize_zero_amount_invoice: true,
          einvoicing: false,
          eu_tax_management: false,
          logo: null,
        },
      },
    },
    updateMailSender: {
      body: {
        mail_sender: {
          from_name: 'Nord GmbH',
          from_address: 'billing@nord.example',
          reply_to: 'help@nord.example',
          bcc_issuer: true,
        },
      },
    },
    verifyMailSender: { body: { mail_sender: { code: '123456' } } },
    updateMailSettings: { body: { mail_settings: { templates: { payment_failed: true }, trial_days: 5 } } },
    updateMailTemplate: {
      body: { mail_template: { subject: '{number} of {seller}', intro: 'Dear {customer_name}', closing: 'Goodbye' } },
    },
    previewMailTemplate: { body: { mail_template: { locale: 'en', subject: 'S', intro: 'I', closing: 'C' } } },
    testMailTemplate: {
      body: { mail_template: { locale: 'en', subject: 'S', intro: 'I', closing: 'C', to: 'me@nord.example' } },
    },
    updatePortalSettings: {
      body: {
        portal: {
          accent_color: '#e91e63',
          show: { usage: true, projection: true, entitlements: false, wallets: true },
          allow: { pay: true, top_up: true, payment_methods: true, billing_data: true, alerts: false },
          billing_data_fields: ['email', 'name'],
          embed_origins: ['https://app.example.com'],
          support_url: 'https://example.com/help',
          terms_url: 'https://example.com/terms',
          privacy_url: 'https://example.com/privacy',
          hide_product_name: true,
        },
      },
    },
    createCoupon: { body: { coupon } },
    updateCoupon: {
      body: { coupon: { name: 'Other', expiration: 'time_limit', expiration_at: '2030-01-01T00:00:00Z' } },
    },
    applyCoupon: {
      body: {
        applied_coupon: {
          external_customer_id: 'late',
          coupon_code: 'coupon',
          frequency: 'recurring',
          frequency_duration: 2,
          percentage_rate: '5',
        },
      },
    },
    createCreditNote: {
      body: {
        credit_note: {
          invoice_id: invoice.svc_id,
          reason: 'other',
          description: 'Words',
          credit_amount_cents: 50,
          refund_amount_cents: 0,
          offset_amount_cents: 0,
          metadata,
          items: [{ fee_id: feeId, amount_cents: 45 }],
        },
      },
    },
    estimateCreditNote: {
      body: { credit_note: { invoice_id: invoice.svc_id, items: [{ fee_id: feeId, amount_cents: 45 }] } },
    },
    updateCreditNote: { body: { credit_note: { metadata } } },
    replaceCreditNoteMetadata: { body: { metadata } },
    mergeCreditNoteMetadata: { body: { metadata } },
    createCustomer: {
      body: {
        customer: {
          ...place,
          external_id: 'fresh',
          billing_entity_code: 'branch',
          account_type: 'customer',
          customer_type: 'company',
          name: 'Fresh',
          firstname: 'A',
          lastname: 'B',
          phone: '1',
          url: 'https://example.com',
          logo_url: 'https://example.com/logo.png',
          shipping_address: address,
          currency: 'EUR',
          timezone: 'UTC',
          net_payment_term: 3,
          finalize_zero_amount_invoice: 'skip',
          skip_invoice_custom_sections: false,
          external_salesforce_id: '1',
          billing_configuration: {
            invoice_grace_period: 1,
            document_locale: 'en',
            subscription_invoice_issuing_date_anchor: 'next_period_start',
            subscription_invoice_issuing_date_adjustment: 'keep_anchor',
            payment_provider: 'stripe',
            payment_provider_code: 'provider',
            provider_customer_id: 'cus_1',
            sync: false,
            sync_with_provider: false,
            provider_payment_methods: ['card'],
          },
          dunning_campaign_code: 'campaign',
          exclude_from_dunning_campaign: false,
          metadata: [{ key: 'a', value: 'b', display_in_invoice: true }],
          tax_codes: ['tax'],
          invoice_custom_section_codes: ['terms'],
          integration_customers: [],
        },
      },
    },
    updateOrganization: {
      body: {
        organization: {
          ...place,
          ...settings,
          slug: 'fresh-owner',
          email_settings: ['invoice.finalized'],
          document_number_prefix: 'AB',
          finalize_zero_amount_invoice: true,
          webhook_url: 'https://example.com/own',
          billing_configuration: { invoice_footer: 'Thanks', invoice_grace_period: 1, document_locale: 'en' },
        },
      },
    },
    updateOrganizationSettings: {
      body: {
        settings: {
          audit_logs_period: 20,
          wallet_limit: 6,
          hosted_page_wait_minutes: 10,
          deny_when_overdue: false,
          usage_policies: { corrections: 'next_invoice', late_events: 'ignore' },
          personal_properties: [],
        },
      },
    },
    createApiKey: {
      body: { api_key: { name: 'Third', permissions: { customer: ['read'] }, expires_at: '2030-01-01T00:00:00Z' } },
    },
    updateApiKey: { body: { api_key: { name: 'Third', permissions: { customer: ['read'] } } } },
    rotateApiKey: { body: { api_key: { name: 'Third', expires_at: '2030-01-01T00:00:00Z' } } },
    updateRetention: { body: { retention: { api_logs: 30, activity_logs: 30, security_logs: 400 } } },
    createTax: {
      body: {
        tax: { name: 'Fresh', code: 'fresh', rate: '5', description: 'Words', applied_to_organization: true },
      },
    },
    updateTax: { body: { tax: { name: 'Other', rate: 6, description: 'Words', applied_to_organization: true } } },
    createTestClock: { body: { test_clock: { frozen_time: '2024-01-01T00:00:00Z' } } },
    advanceTestClock: { body: { test_clock: { frozen_time: '2024-01-04T00:00:00Z' } } },
    createWebhookEndpoint: { body: { webhook_endpoint: endpoint } },
    updateWebhookEndpoint: { body: { webhook_endpoint: endpoint } },
    rotateWebhookEndpointSecret: { body: writes },
    rotateHmacKey: { body: writes },
    replayWebhooks: { body: replay },
    eventEstimateFees: {
      body: { event: { code: 'calls', external_subscription_id: 'running', properties: { n: 1 } } },
    },
    eventEstimateInstantFees: { body: { event: { ...event, transaction_id: 'estimated' } } },
    eventBatchEstimateInstantFees: { body: { events: [{ ...event, transaction_id: 'estimated' }] } },
    updateFee: { body: { fee: { payment_status: 'succeeded' } } },
    createInvoice: {
      body: {
        invoice: {
          external_customer_id: 'late',
          billing_entity_code: 'branch',
          currency: 'EUR',
          skip_psp: true,
          purchase_order_number: 'PO',
          fees: [
            {
              add_on_code: 'seat',
              invoice_display_name: 'Seat',
              unit_amount_cents: 100,
              units: '2',
              description: 'Words',
              from_datetime: '2024-01-01T00:00:00Z',
              to_datetime: '2024-01-02T00:00:00Z',
              tax_codes: ['tax'],
            },
          ],
          payment_method: manual,
          invoice_custom_section: section,
        },
      },
    },
    updateInvoice: {
      path: `/invoices/${open.svc_id}`,
      body: {
        invoice: { payment_status: 'pending', metadata: [{ key: 'a', value: 'b' }] },
      },
    },
    invoicePreview: {
      body: {
        customer: {
          external_id: null,
          name: 'New',
          currency: 'EUR',
          timezone: 'UTC',
          ...address,
          shipping_address: address,
        },
        plan_code: 'plan',
        billing_time: 'calendar',
        subscription_at: '2024-02-01T00:00:00Z',
        coupons: [{ code: 'coupon', coupon_type: 'percentage', percentage_rate: '5', frequency_duration: 1 }],
      },
    },
    syncInvoiceCrmId: { body: { external_id: '0061', integration_code: 'crm' } },
    voidInvoice: { body: { generate_credit_note: true, credit_amount: 10, refund_amount: 0 } },
    regenerateInvoice: {
      body: {
        invoice: {
          purchase_order_number: 'PO',
          fees: [{ units: '1', unit_amount_cents: 10, invoice_display_name: 'Again', add_on_code: 'seat' }],
        },
      },
    },
    createInvoiceCustomSection: {
      body: {
        invoice_custom_section: {
          code: 'fresh',
          name: 'Fresh',
          description: 'Words',
          details: 'More words',
          display_name: 'Fresh',
        },
      },
    },
    updateInvoiceCustomSection: {
      body: { invoice_custom_section: { name: 'Other', details: 'More words', display_name: 'Other' } },
    },
    writeOffInvoice: {
      path: `/invoices/${open.svc_id}/write_off`,
      body: { write_off: { amount_cents: 10, reason: 'gone' } },
    },
    verifyInvoice: { body: { verification: { level: 'inputs' } } },
    createAdjustedFee: {
      body: { adjusted_fee: { fee_id: feeId, units: '1', unit_precise_amount: '2', invoice_display_name: 'Own' } },
    },
    previewAdjustedFee: {
      body: { adjusted_fee: { fee_id: feeId, units: '1', unit_precise_amount: '2', invoice_display_name: 'Own' } },
    },
    createPayment: {
      body: { payment: { invoice_id: open.svc_id, amount_cents: 10, reference: 'bank', paid_at: '2024-01-03' } },
    },
    retryPayment: { body: { payment_method: manual } },
    resendInvoiceEmail: { body: recipients },
    resendCreditNoteEmail: { body: recipients },
    resendPaymentReceiptEmail: { body: recipients },
    createDunningCampaign: { body: { dunning_campaign: campaign } },
    updateDunningCampaign: { body: { dunning_campaign: campaign } },
    createPaymentMethod: {
      body: {
        payment_method: { card_number: '4242424242424242', payment_provider_code: 'provider', set_as_default: true },
      },
    },
    createInvoiceEDocument: {
      path: `/invoices/${documents[0].svc_subject_id}/e_documents`,
      body: { e_document: { profile: 'en16931_ubl' } },
    },
    createCreditNoteEDocument: { body: { e_document: { profile: 'en16931_ubl' } } },
    createIntegration: {
      body: { integration: { type: 'anrok', code: 'other', name: 'Other', api_key: 'sandbox' } },
    },
    updateIntegration: { body: { integration: { type: 'anrok', code: 'engine', name: 'Named', api_key: 'sandbox' } } },
    updateIntegrationMappings: {
      body: {
        mappings: [
          { resource_type: 'plan', resource_code: 'plan', external_id: 'saas', external_name: 'Software' },
          { resource_type: 'default', resource_code: null, external_id: 'other', external_name: null },
        ],
      },
    },
    createPaymentProvider: { body: { payment_provider: provider } },
    updatePaymentProvider: {
      body: { payment_provider: { name: 'Other', success_redirect_url: 'https://example.com' } },
    },
    createPaymentRequest: {
      body: {
        payment_request: {
          external_customer_id: 'late',
          email: 'a@example.com',
          svc_invoice_ids: [overdue[0].svc_id],
          payment_method: manual,
        },
      },
    },
    createQuote: { body: { quote } },
    updateQuoteVersion: {
      path: `/quote_versions/${draft.current_version.svc_id}`,
      body: { quote_version: quoted },
    },
    approveQuoteVersion: {
      path: `/quote_versions/${draft.current_version.svc_id}/approve`,
      body: { expires_at: '2030-01-01T00:00:00Z' },
    },
    markOrderFormAsSigned: {
      path: `/order_forms/${forms[0].svc_id}/mark_as_signed`,
      body: { order_form: { signed_document: 'data:application/pdf;base64,JVBERi0=', execution_mode: 'order_only' } },
    },
    executeOrder: { body: { order: { execution_mode: 'execute_in_svc', execute_at: '2030-01-01T00:00:00Z' } } },
    confirmSandboxPayment: { body: { outcome: 'succeeded' } },
    finishSandboxCheckout: { body: { checkout: { card_number: '4242424242424242' } } },
    createSubscription: {
      body: {
        subscription: {
          ...subscription,
          external_customer_id: 'somebody',
          plan_code: 'plan',
          external_id: 'fresh',
          billing_time: 'anniversary',
          subscription_at: '2024-01-02T00:00:00Z',
        },
        authorization: { amount_cents: 100, amount_currency: 'EUR' },
      },
    },
    updateSubscription: { body: { subscription: { ...subscription, activation_rules: undefined }, status: 'active' } },
    overrideSubscriptionCharge: {
      body: { charge: { ...standing, min_amount_cents: 10, invoice_display_name: 'Own' } },
    },
    createSubscriptionChargeFilter: { body: { filter: { values: { region: ['us'] }, properties: { amount: '1' } } } },
    updateSubscriptionChargeFilter: { body: { filter: { invoice_display_name: 'East', properties: { amount: '1' } } } },
    createSubscriptionAlert: { body: { alert } },
    updateSubscriptionAlert: { body: { alert: { name: 'Other', thresholds: alert.thresholds } } },
    createCustomerWalletAlert: { body: { alert: { ...walletAlert, alert_type: 'wallet_ongoing_balance_amount' } } },
    updateCustomerWalletAlert: { body: { alert: { name: 'Other', thresholds: alert.thresholds } } },
    createWallet: { body: { wallet: { ...newWallet, external_customer_id: 'late' } } },
    updateWallet: { body: { wallet } },
    replaceWalletMetadata: { body: { metadata } },
    mergeWalletMetadata: { body: { metadata } },
    createCustomerWallet: { body: { wallet: newWallet } },
    updateCustomerWallet: { body: { wallet } },
    replaceCustomerWalletMetadata: { body: { metadata } },
    mergeCustomerWalletMetadata: { body: { metadata } },
    createWalletHold: { body: { hold: { ...hold, allow_partial: true } } },
    updateWalletHold: { body: { hold: { amount_cents: 50, expires_in_seconds: 60 } } },
    settleWalletHold: { body: { hold: { amount_cents: 1 } } },
    createBudget: { body: { budget } },
    updateBudget: { body: { budget: { name: 'Other', limit: '2000', alert_percents: [90] } } },
    topUpBudget: { body: { top_up: { amount: '1', group: { user: 'u1' }, reason: 'more' } } },
    resetBudget: { body: { reset: { group: { user: 'u1' }, reason: 'again' } } },
    createBudgetDecision: { body: { decision } },
    updateBudgetHold: { body: { hold: { expires_in_seconds: 60, amount: '1' } } },
    settleBudgetHold: { body: { hold: { amount: '1' } } },
    createAiUsage: { body: { ai_usage: call } },
    createAiUsageBatch: { body: { ai_usages: [call, { ...call, transaction_id: 'second-call' }] } },
    previewAiUsage: { body: { ai_usage: call } },
    updateAiSubjects: { body: { subjects: [{ kind: 'team', value: 'red', external_subscription_id: 'running' }] } },
    setUpAi: { body: { setup: {} } },
    addPriceEntries: { body: { entries: [price, { ...price, kind: 'images', per: 1 }] } },
    putPriceAliases: {
      body: {
        aliases: [{ provider: 'azure', pattern: 'prod-*', target_provider: 'openai', target_model: 'alpha' }],
      },
    },
    estimateCharge: {
      body: {
        charge_estimate: {
          charge_model: 'graduated',
          properties: {
            graduated_ranges: [
              { from_value: 0, to_value: 10, per_unit_amount: '1', flat_amount: '2' },
              { from_value: 11, to_value: null, per_unit_amount: '0.5', flat_amount: '0' },
            ],
          },
          currency: 'USD',
          units: ['5', '20'],
          events_count: 3,
        },
      },
    },
    importPrices: { body: { 'openai/beta': { litellm_provider: 'openai', input_cost_per_token: 0.000003 } } },
    rerateCalls: {
      body: {
        rerate: {
          from: '2020-01-01T00:00:00Z',
          to: '2020-02-01T00:00:00Z',
          provider: 'openai',
          model: 'alpha',
          external_subscription_id: 'running',
          dry_run: true,
          policy: 'next_invoice',
          reason: 'corrected prices',
        },
      },
    },
    ignoreUnknownModel: { body: { ignore: { provider: 'openai', model: 'omega', reason: 'not sold' } } },
    checkAccess: {
      body: {
        access: {
          external_subscription_id: 'running',
          feature_code: 'seats',
          privilege_code: 'max',
          units: '1',
          wallet_code: 'wallet',
          amount_cents: 1,
          hold: { expires_in_seconds: 60, reference: 'r' },
        },
      },
    },
    createWalletTransaction: {
      body: {
        wallet_transaction: {
          wallet_id: world.wallets!.svc_id,
          paid_credits: '1',
          granted_credits: '1',
          voided_credits: '1',
          invoice_requires_successful_payment: false,
          ignore_paid_top_up_limits: false,
          priority: 3,
          name: 'Top-up',
          metadata: [{ key: 'a', value: 'b' }],
          payment_method: manual,
          invoice_custom_section: section,
          purchase_order_number: 'PO',
        },
      },
    },
    updateSubscriptionLifetimeUsage: { body: { lifetime_usage: { external_historical_usage_amount_cents: 1 } } },
    updateAuditFinding: { body: { audit_finding: { status: 'acknowledged', note: 'Seen' } } },
    createProviderReconciliation: {
      body: {
        provider_reconciliation: {
          payment_provider_code: 'main',
          from: '2026-01-01T00:00:00Z',
          to: '2026-01-02T00:00:00Z',
        },
      },
    },
    repairProviderDrift: { body: { drift: { action: 'resolve', note: 'Seen' } } },
    createAudit: { body: { audit: { checks: ['A01'] } } },
    createEventCorrection: {
      body: {
        correction: {
          ...amended,
          kind: 'amend',
          reason: 'meter was off',
          policy: 'next_invoice',
          credit_note_part: 'credit',
          dry_run: false,
          timestamp: 1704200000,
          properties: { n: 5, region: 'eu' },
        },
      },
    },
    retryDeadLetter: {
      body: {
        dead_letter: {
          payload: {
            transaction_id: 'again',
            external_subscription_id: 'running',
            code: 'calls',
            properties: { n: 1 },
          },
        },
      },
    },
    healUnmatchedEvents: {
      body: { heal: { code: 'calls', external_subscription_id: 'nobody' } },
    },
  };
}
