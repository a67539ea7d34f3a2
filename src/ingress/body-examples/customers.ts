import { ID } from './ids.ts';

const charge = { charge_model: 'standard', properties: { amount: '0.03' } };
const filter = { values: { region: ['us'] }, properties: { amount: '0.20' } };
const place = { address_line1: '1 Rue de Rivoli', city: 'Paris', zipcode: '75001', country: 'FR' };

/** Bodies of requests about customers, subscriptions, organizations and their keys. */
export const CUSTOMER_EXAMPLES: Readonly<Record<string, object>> = {
  createCustomer: {
    customer: {
      external_id: 'ada',
      name: 'Ada',
      email: 'ada@example.com',
      currency: 'USD',
      timezone: 'Europe/Paris',
      ...place,
      billing_configuration: { invoice_grace_period: 2, document_locale: 'fr' },
      metadata: [{ key: 'segment', value: 'startup', display_in_invoice: false }],
    },
  },
  createBillingEntity: { billing_entity: { code: 'france', name: 'Shop France', default_currency: 'EUR', ...place } },
  updateBillingEntity: {
    billing_entity: { net_payment_term: 30, email_settings: ['invoice.finalized'], tax_codes: ['vat'] },
  },
  updateMailSender: { mail_sender: { from_name: 'Nord GmbH', from_address: 'billing@nord.example', bcc_issuer: true } },
  verifyMailSender: { mail_sender: { code: '123456' } },
  updateMailSettings: { mail_settings: { templates: { payment_failed: true } } },
  updateMailTemplate: {
    mail_template: {
      subject: 'Your bill {number} over {amount}',
      intro: 'Dear {customer_name},\n\nhere is your bill.',
    },
  },
  previewMailTemplate: { mail_template: { locale: 'en', closing: 'Questions? Write to {support_email}.' } },
  testMailTemplate: { mail_template: { locale: 'en', to: 'me@nord.example' } },
  updatePortalSettings: {
    portal: { accent_color: '#e91e63', allow: { top_up: true }, embed_origins: ['https://app.example.com'] },
  },
  updateOrganization: { organization: { legal_name: 'Shop SAS', timezone: 'Europe/Paris', net_payment_term: 30 } },
  updateOrganizationSettings: {
    settings: { deny_when_overdue: true, usage_policies: { late_events: 'next_invoice' } },
  },
  createApiKey: { api_key: { name: 'Shop', permissions: { customer: ['read', 'write'] } } },
  updateApiKey: { api_key: { permissions: { customer: ['read'] } } },
  rotateApiKey: { api_key: { expires_at: '2030-02-01T00:00:00Z' } },
  updateRetention: { retention: { api_logs: 90, webhook_deliveries: 30 } },
  createIntegration: { integration: { type: 'anrok', code: 'taxes', name: 'Anrok', api_key: 'sandbox' } },
  updateIntegration: { integration: { name: 'Taxes' } },
  updateIntegrationMappings: {
    mappings: [
      { resource_type: 'billable_metric', resource_code: 'calls', external_id: 'api-calls' },
      { resource_type: 'default', external_id: 'saas' },
    ],
  },
  createPaymentProvider: { payment_provider: { type: 'sandbox', code: 'sandbox', name: 'Sandbox' } },
  updatePaymentProvider: { payment_provider: { success_redirect_url: 'https://shop.example.com/paid' } },
  createPaymentMethod: { payment_method: { card_number: '4242424242424242', set_as_default: true } },
  createSubscription: {
    subscription: {
      external_customer_id: 'ada',
      plan_code: 'starter',
      external_id: 'ada-1',
      billing_time: 'anniversary',
      subscription_at: '2030-01-01T00:00:00Z',
    },
  },
  updateSubscription: { subscription: { name: 'Team of Ada', ending_at: '2031-01-01T00:00:00Z' } },
  overrideSubscriptionCharge: { charge },
  overrideSubscriptionFixedCharge: { fixed_charge: { units: '3' } },
  createSubscriptionChargeFilter: { filter },
  updateSubscriptionChargeFilter: { filter: { properties: { amount: '0.15' } } },
  updateSubscriptionLifetimeUsage: { lifetime_usage: { external_historical_usage_amount_cents: 250000 } },
  createWebhookEndpoint: {
    webhook_endpoint: {
      webhook_url: 'https://hooks.example.com/meterstone',
      signature_algo: 'hmac',
      event_types: ['invoice.created', 'invoice.payment_status_updated'],
    },
  },
  updateWebhookEndpoint: { webhook_endpoint: { webhook_url: 'https://hooks.example.com/billing', enabled: true } },
  rotateWebhookEndpointSecret: { expires_in_hours: 48 },
  rotateHmacKey: { expires_in_hours: 48 },
  replayWebhooks: { from: '2030-01-01T00:00:00Z', to: '2030-01-02T00:00:00Z', event_types: ['invoice.created'] },
  createQuote: {
    quote: {
      external_customer_id: 'ada',
      order_type: 'one_off',
      currency: 'USD',
      billing_items: {
        addOns: [
          {
            id: ID,
            localId: 'setup',
            type: 'add_on',
            payload: { code: 'setup', units: 2, unitAmountCents: 9900, totalAmountCents: 19800 },
          },
        ],
      },
    },
  },
  updateQuoteVersion: { quote_version: { content: 'Setup of both sites, as discussed.' } },
  approveQuoteVersion: { expires_at: '2030-02-01T00:00:00Z' },
  markOrderFormAsSigned: { order_form: { execution_mode: 'execute_in_svc', execute_at: '2030-02-01T00:00:00Z' } },
  executeOrder: { order: { execution_mode: 'execute_in_svc' } },
};
