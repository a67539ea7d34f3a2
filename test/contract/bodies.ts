const charge = { billable_metric_id: '01890000-0000-7000-8000-000000000000', charge_model: 'standard', code: 'new' };
const filter = { values: { region: ['us'] }, properties: { amount: '1' } };
const fee = { payment_status: 'succeeded' };
const alert = { alert: { alert_type: 'current_usage_amount', code: 'new', thresholds: [{ value: 1 }] } };
const lifetimeUsage = { external_historical_usage_amount_cents: 1 };
const subscription = { subscription: { name: 'Other' } };

const entitlements = { entitlements: { seats: { max: 5 } } };

/**
 * Content of the root key, or the whole body of operations without one, that the schema accepts, by operation. One
 * without a row accepts a body of unknown fields.
 */
export const BODIES: Readonly<Record<string, object>> = {
  estimateCharge: { charge_model: 'standard', properties: { amount: '1' }, currency: 'USD', units: ['1'] },
  createEntitlement: entitlements,
  updateEntitlement: entitlements,
  updateSubscriptionEntitlements: entitlements,
  verifyMailSender: { code: '123456' },
  previewMailTemplate: { locale: 'en' },
  testMailTemplate: { locale: 'en', to: 'me@nord.example' },
  topUpBudget: { amount: '1', reason: 'more', group: { user: 'u1' } },
  resetBudget: { reason: 'again', group: { user: 'u1' } },
  settleBudgetHold: { amount: '1' },
  addPriceEntries: { entries: [{ provider: 'openai', model: 'beta', kind: 'input', cost: '1' }] },
  putPriceAliases: { aliases: [] },
  ignoreUnknownModel: { provider: 'openai', model: 'beta' },
  rerateCalls: { from: '2020-01-01', to: '2020-02-01', reason: 'corrected prices' },
  createWalletHold: { amount_cents: 100 },
  settleWalletHold: { amount_cents: 1 },
  setFeatureUsageLimits: { usage_limits: [] },
  createPlanCharge: { ...charge, properties: { amount: '1' } },
  createPlanChargeFilter: filter,
  createSubscriptionChargeFilter: filter,
  updateFee: fee,
  patchFee: fee,
  syncInvoiceCrmId: { external_id: '0061', integration_code: 'crm' },
  updateIntegrationMappings: { mappings: [] },
  regenerateInvoice: { fees: [{ units: '1' }] },
  createAdjustedFee: { units: '1' },
  previewAdjustedFee: { units: '1' },
  confirmSandboxPayment: { outcome: 'succeeded' },
  updateSubscription: subscription,
  patchSubscription: subscription,
  createCustomerWallet: { rate_amount: '1', currency: 'EUR' },
  updateSubscriptionLifetimeUsage: lifetimeUsage,
  patchSubscriptionLifetimeUsage: lifetimeUsage,
  writeOffInvoice: { reason: 'gone' },
  repairProviderDrift: { action: 'resolve' },
  updateAuditFinding: { status: 'acknowledged' },
  createSubscriptionAlert: alert,
  createCustomerWalletAlert: alert,
};

/** What operations need in their query. */
export const QUERIES: Readonly<Record<string, string>> = {
  findCustomerCurrentUsage: 'external_subscription_id=running',
  findCustomerProjectedUsage: 'external_subscription_id=running',
  findAllCustomerPastUsage: 'external_subscription_id=running',
  exportEDocuments: 'from=2020-01-01&to=2100-01-01',
  search: 'q=plan',
  findAiMargins: 'from=2024-01-01&to=2024-01-31',
  findCustomerAiMargins: 'from=2024-01-01&to=2024-01-31',
  resolvePrices: 'provider=openai&model=alpha',
  findAllSecurityLogs: 'to_date=2100-01-01',
};
