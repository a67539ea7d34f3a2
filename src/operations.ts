import { estimateOperations } from './areas/billing/estimates/routes.ts';
import { addOnOperations } from './areas/catalog/add-ons/routes.ts';
import { billableMetricOperations } from './areas/catalog/billable-metrics/routes.ts';
import { chargeEstimateOperations } from './areas/catalog/charge-estimates/routes.ts';
import { couponOperations } from './areas/catalog/coupons/routes.ts';
import { featureOperations } from './areas/catalog/features/routes.ts';
import { chargeOperations } from './areas/catalog/plan-charges/routes.ts';
import { planEntitlementOperations } from './areas/catalog/plan-entitlements/routes.ts';
import { fixedChargeOperations } from './areas/catalog/plan-fixed-charges/routes.ts';
import { planOperations } from './areas/catalog/plans/routes.ts';
import { priceBookOperations } from './areas/catalog/price-book/routes.ts';
import { pricingUnitOperations } from './areas/catalog/pricing-units/routes.ts';
import { taxOperations } from './areas/catalog/taxes/routes.ts';
import { alertOperations } from './areas/credits/alerts/routes.ts';
import { appliedCouponOperations } from './areas/credits/applied-coupons/routes.ts';
import { creditNoteOperations } from './areas/credits/credit-notes/routes.ts';
import { walletHoldOperations } from './areas/credits/wallet-holds/routes.ts';
import { walletTransactionOperations } from './areas/credits/wallet-transactions/routes.ts';
import { walletOperations } from './areas/credits/wallets/routes.ts';
import { billingEntityOperations } from './areas/customers/billing-entities/routes.ts';
import { viesCheckOperations } from './areas/customers/check-vat-numbers/routes.ts';
import { customerOperations } from './areas/customers/customers/routes.ts';
import { integrationOperations } from './areas/customers/integrations/routes.ts';
import { invoiceCustomSectionOperations } from './areas/customers/invoice-custom-sections/routes.ts';
import { mailSenderOperations } from './areas/customers/mail-senders/routes.ts';
import { mailSettingsOperations } from './areas/customers/mail-settings/routes.ts';
import { paymentMethodOperations } from './areas/customers/payment-methods/routes.ts';
import { paymentProviderOperations } from './areas/customers/payment-providers/routes.ts';
import { portalSettingsOperations } from './areas/customers/portal-settings/routes.ts';
import { archiveOperations } from './areas/documents/archive/routes.ts';
import { documentMailOperations } from './areas/documents/document-mails/routes.ts';
import { eDocumentOperations } from './areas/documents/e-documents/routes.ts';
import { adjustedFeeOperations } from './areas/invoices/adjusted-fees/routes.ts';
import { feeExplanationOperations } from './areas/invoices/fee-explanations/routes.ts';
import { feeOperations } from './areas/invoices/fees/routes.ts';
import { invoiceVerificationOperations } from './areas/invoices/invoice-verifications/routes.ts';
import { invoiceOperations } from './areas/invoices/invoices/routes.ts';
import { ledgerOperations } from './areas/ledger/ledger/routes.ts';
import { mailOperations } from './areas/messaging/mails/routes.ts';
import { webhookEndpointOperations } from './areas/messaging/webhook-endpoints/routes.ts';
import { webhookEventOperations } from './areas/messaging/webhook-events/routes.ts';
import { webhookOperations } from './areas/messaging/webhooks/routes.ts';
import { dunningCampaignOperations } from './areas/payments/dunning-campaigns/routes.ts';
import { inboundEventOperations } from './areas/payments/inbound-events/routes.ts';
import { paymentReceiptOperations } from './areas/payments/payment-receipts/routes.ts';
import { paymentRequestOperations } from './areas/payments/payment-requests/routes.ts';
import { paymentOperations } from './areas/payments/payments/routes.ts';
import { providerDriftOperations } from './areas/payments/provider-drifts/routes.ts';
import { providerReconciliationOperations } from './areas/payments/provider-reconciliations/routes.ts';
import { writeOffOperations } from './areas/payments/write-offs/routes.ts';
import { aiMarginOperations } from './areas/reporting/ai-margin/routes.ts';
import { analyticsOperations } from './areas/reporting/analytics/routes.ts';
import { attentionOperations } from './areas/reporting/attention/routes.ts';
import { auditOperations } from './areas/reporting/audits/routes.ts';
import { customerNameOperations } from './areas/reporting/customer-names/routes.ts';
import { portalCommands } from './areas/reporting/customer-portal/commands/operations.ts';
import { customerSummaryOperations } from './areas/reporting/customer-summaries/routes.ts';
import { eventTraceOperations } from './areas/reporting/event-trace/routes.ts';
import { mailTemplateOperations } from './areas/reporting/mail-templates/routes.ts';
import { overviewOperations } from './areas/reporting/overview/routes.ts';
import { planImpactOperations } from './areas/reporting/plan-impact/routes.ts';
import { searchOperations } from './areas/reporting/search/routes.ts';
import { timelineOperations } from './areas/reporting/timeline/routes.ts';
import { sandboxOperations } from './areas/sandbox/sandbox/routes.ts';
import { testClockOperations } from './areas/sandbox/test-clocks/routes.ts';
import { orderFormOperations } from './areas/selling/order-forms/routes.ts';
import { orderOperations } from './areas/selling/orders/routes.ts';
import { quoteOperations } from './areas/selling/quotes/routes.ts';
import { subscriptionEntitlementOperations } from './areas/subscriptions/entitlement-overrides/routes.ts';
import { subscriptionFixedChargeOperations } from './areas/subscriptions/fixed-charges/routes.ts';
import { overrideOperations } from './areas/subscriptions/subscriptions/overrides/routes.ts';
import { subscriptionOperations } from './areas/subscriptions/subscriptions/routes.ts';
import { activityLogOperations } from './areas/tenancy/activity-logs/routes.ts';
import { apiKeyOperations } from './areas/tenancy/api-keys/routes.ts';
import { apiLogOperations } from './areas/tenancy/api-logs/routes.ts';
import { consoleSessionOperations } from './areas/tenancy/console-sessions/routes.ts';
import { organizationOperations } from './areas/tenancy/organizations/routes.ts';
import { retentionOperations } from './areas/tenancy/retention/routes.ts';
import { securityLogOperations } from './areas/tenancy/security-logs/routes.ts';
import { accessOperations } from './areas/usage/access/routes.ts';
import { aiUsageOperations } from './areas/usage/ai-doors/routes.ts';
import { budgetHoldOperations } from './areas/usage/budget-holds/routes.ts';
import { budgetOperations } from './areas/usage/budgets/routes.ts';
import { eventCorrectionOperations } from './areas/usage/event-corrections/routes.ts';
import { eventVolumeOperations } from './areas/usage/event-volumes/routes.ts';
import { eventOperations } from './areas/usage/events/routes.ts';
import { ingestionOperations } from './areas/usage/ingestion/routes.ts';
import { lifetimeUsageOperations } from './areas/usage/lifetime-usage/routes.ts';
import { priceReratingOperations } from './areas/usage/price-reratings/routes.ts';
import { unmatchedEventOperations } from './areas/usage/unmatched-events/routes.ts';
import { unpricedEventOperations } from './areas/usage/unpriced-events/routes.ts';
import { usageOperations } from './areas/usage/usage/routes.ts';
import { usageSeriesOperations } from './areas/usage/usage-series/routes.ts';
import type { Operation } from './platform/operation.ts';

/** Every operation of the API. Event routes are first, because each route before a request costs it a little time. */
export const operations: Operation[] = [
  ...eventOperations,
  ...eventVolumeOperations,
  ...aiUsageOperations,
  ...chargeOperations,
  ...fixedChargeOperations,
  ...subscriptionFixedChargeOperations,
  ...planOperations,
  ...featureOperations,
  ...planEntitlementOperations,
  ...subscriptionEntitlementOperations,
  ...priceBookOperations,
  ...pricingUnitOperations,
  ...addOnOperations,
  ...billableMetricOperations,
  ...billingEntityOperations,
  ...portalSettingsOperations,
  ...mailSenderOperations,
  ...mailSettingsOperations,
  ...mailTemplateOperations,
  ...couponOperations,
  ...appliedCouponOperations,
  ...creditNoteOperations,
  ...customerOperations,
  ...organizationOperations,
  ...apiKeyOperations,
  ...consoleSessionOperations,
  ...activityLogOperations,
  ...apiLogOperations,
  ...securityLogOperations,
  ...retentionOperations,
  ...taxOperations,
  ...viesCheckOperations,
  ...testClockOperations,
  ...webhookEndpointOperations,
  ...webhookOperations,
  ...webhookEventOperations,
  ...estimateOperations,
  ...feeOperations,
  ...feeExplanationOperations,
  ...invoiceOperations,
  ...invoiceCustomSectionOperations,
  ...writeOffOperations,
  ...invoiceVerificationOperations,
  ...adjustedFeeOperations,
  ...paymentOperations,
  ...paymentReceiptOperations,
  ...documentMailOperations,
  ...eDocumentOperations,
  ...archiveOperations,
  ...mailOperations,
  ...dunningCampaignOperations,
  ...paymentMethodOperations,
  ...paymentProviderOperations,
  ...integrationOperations,
  ...inboundEventOperations,
  ...providerDriftOperations,
  ...providerReconciliationOperations,
  ...paymentRequestOperations,
  ...quoteOperations,
  ...orderFormOperations,
  ...orderOperations,
  ...sandboxOperations,
  ...subscriptionOperations,
  ...overrideOperations,
  ...alertOperations,
  ...walletOperations,
  ...walletHoldOperations,
  ...accessOperations,
  ...budgetOperations,
  ...budgetHoldOperations,
  ...walletTransactionOperations,
  ...lifetimeUsageOperations,
  ...ledgerOperations,
  ...analyticsOperations,
  ...aiMarginOperations,
  ...customerNameOperations,
  ...customerSummaryOperations,
  ...eventTraceOperations,
  ...timelineOperations,
  ...planImpactOperations,
  ...chargeEstimateOperations,
  ...usageSeriesOperations,
  ...attentionOperations,
  ...overviewOperations,
  ...searchOperations,
  ...auditOperations,
  ...usageOperations,
  ...eventCorrectionOperations,
  ...unmatchedEventOperations,
  ...unpricedEventOperations,
  ...priceReratingOperations,
  ...ingestionOperations,
];

/** Operations by name, as commands travel; with those that customers have on their own pages. */
export const operationsByName: ReadonlyMap<string, Operation> = new Map(
  [...operations, ...portalCommands].map((operation) => [operation.name, operation]),
);
