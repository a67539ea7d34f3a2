import type { Operation } from '../platform/operation.ts';
import { accessOperations } from './access/routes.ts';
import { activityLogOperations } from './activity-logs/routes.ts';
import { addOnOperations } from './add-ons/routes.ts';
import { adjustedFeeOperations } from './adjusted-fees/routes.ts';
import { alertOperations } from './alerts/routes.ts';
import { analyticsOperations } from './analytics/routes.ts';
import { apiKeyOperations } from './api-keys/routes.ts';
import { apiLogOperations } from './api-logs/routes.ts';
import { appliedCouponOperations } from './applied-coupons/routes.ts';
import { auditOperations } from './audits/routes.ts';
import { billableMetricOperations } from './billable-metrics/routes.ts';
import { billingEntityOperations } from './billing-entities/routes.ts';
import { chargeOperations } from './charges/routes.ts';
import { couponOperations } from './coupons/routes.ts';
import { creditNoteOperations } from './credit-notes/routes.ts';
import { customerOperations } from './customers/routes.ts';
import { documentMailOperations } from './document-mails/routes.ts';
import { dunningCampaignOperations } from './dunning-campaigns/routes.ts';
import { entitlementOperations } from './entitlements/routes.ts';
import { estimateOperations } from './estimates/routes.ts';
import { eventCorrectionOperations } from './event-corrections/routes.ts';
import { eventOperations } from './events/routes.ts';
import { featureOperations } from './features/routes.ts';
import { feeExplanationOperations } from './fee-explanations/routes.ts';
import { feeOperations } from './fees/routes.ts';
import { fixedChargeOperations } from './fixed-charges/routes.ts';
import { inboundEventOperations } from './inbound-events/routes.ts';
import { invoiceCustomSectionOperations } from './invoice-custom-sections/routes.ts';
import { invoiceVerificationOperations } from './invoice-verifications/routes.ts';
import { invoiceOperations } from './invoices/routes.ts';
import { ledgerOperations } from './ledger/routes.ts';
import { lifetimeUsageOperations } from './lifetime-usage/routes.ts';
import { mailOperations } from './mails/routes.ts';
import { orderFormOperations } from './order-forms/routes.ts';
import { orderOperations } from './orders/routes.ts';
import { organizationOperations } from './organizations/routes.ts';
import { paymentMethodOperations } from './payment-methods/routes.ts';
import { paymentProviderOperations } from './payment-providers/routes.ts';
import { paymentReceiptOperations } from './payment-receipts/routes.ts';
import { paymentRequestOperations } from './payment-requests/routes.ts';
import { paymentOperations } from './payments/routes.ts';
import { planOperations } from './plans/routes.ts';
import { pricingUnitOperations } from './pricing-units/routes.ts';
import { quoteOperations } from './quotes/routes.ts';
import { retentionOperations } from './retention/routes.ts';
import { sandboxOperations } from './sandbox/routes.ts';
import { securityLogOperations } from './security-logs/routes.ts';
import { overrideOperations } from './subscriptions/overrides/routes.ts';
import { subscriptionOperations } from './subscriptions/routes.ts';
import { viesCheckOperations } from './taxes/eu/routes.ts';
import { taxOperations } from './taxes/routes.ts';
import { testClockOperations } from './test-clocks/routes.ts';
import { unmatchedEventOperations } from './unmatched-events/routes.ts';
import { usageOperations } from './usage/routes.ts';
import { walletHoldOperations } from './wallet-holds/routes.ts';
import { walletTransactionOperations } from './wallet-transactions/routes.ts';
import { walletOperations } from './wallets/routes.ts';
import { webhookEndpointOperations } from './webhook-endpoints/routes.ts';
import { webhookEventOperations } from './webhook-events/routes.ts';
import { webhookOperations } from './webhooks/routes.ts';
import { writeOffOperations } from './write-offs/routes.ts';

/** Every operation of the API. The event routes stand first: each route ahead costs a request a little. */
export const operations: Operation[] = [
  ...eventOperations,
  ...chargeOperations,
  ...fixedChargeOperations,
  ...planOperations,
  ...featureOperations,
  ...entitlementOperations,
  ...pricingUnitOperations,
  ...addOnOperations,
  ...billableMetricOperations,
  ...billingEntityOperations,
  ...couponOperations,
  ...appliedCouponOperations,
  ...creditNoteOperations,
  ...customerOperations,
  ...organizationOperations,
  ...apiKeyOperations,
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
  ...mailOperations,
  ...dunningCampaignOperations,
  ...paymentMethodOperations,
  ...paymentProviderOperations,
  ...inboundEventOperations,
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
  ...walletTransactionOperations,
  ...lifetimeUsageOperations,
  ...ledgerOperations,
  ...analyticsOperations,
  ...auditOperations,
  ...usageOperations,
  ...eventCorrectionOperations,
  ...unmatchedEventOperations,
];

/** Operations by name, as commands travel. */
export const operationsByName: ReadonlyMap<string, Operation> = new Map(
  operations.map((operation) => [operation.name, operation]),
);
