import * as billing from './areas/billing/announcements.ts';
import { refreshWalletsStep } from './areas/billing/bill-wallets/refresh-ongoing-balance.ts';
import { oweAskingAgain, oweAskingUnanswered } from './areas/billing/tax-engines/ask-again.ts';
import * as catalog from './areas/catalog/announcements.ts';
import { deleteChargesOfMetric, trimChargeFilters } from './areas/catalog/charges/metric-changes.ts';
import { endCouponsOfCustomer, endUsesOfCoupon } from './areas/credits/applied-coupons/endings.ts';
import { creditUnusedDays } from './areas/credits/credit-notes/commands/on-termination.ts';
import { deleteDraftNotes } from './areas/credits/credit-notes/writes.ts';
import { followTopUpPayment } from './areas/credits/wallet-transactions/top-up-payment.ts';
import { terminateWalletsOf } from './areas/credits/wallets/terminate-wallet.ts';
import * as customers from './areas/customers/announcements.ts';
import { applyTaxOfOrganization } from './areas/customers/billing-entities/apply-tax.ts';
import { recordCheck } from './areas/customers/customers/announce-vat-check.ts';
import { discardMethodsOfCustomer, discardMethodsOfProvider } from './areas/customers/payment-methods/writes.ts';
import { recordMailFailed } from './areas/documents/document-mails/commands.ts';
import * as invoices from './areas/invoices/announcements.ts';
import * as messaging from './areas/messaging/announcements.ts';
import * as payments from './areas/payments/announcements.ts';
import { collectWithoutMethod } from './areas/payments/collect-payments/import-methods.ts';
import { endOtherMoney } from './areas/payments/collect-payments/other-money.ts';
import { renewTransfers } from './areas/payments/collect-payments/renew-transfers.ts';
import { assignToCustomer, assignToEntity } from './areas/payments/dunning-campaigns/assign-campaign.ts';
import { resetDunningOfInvoice } from './areas/payments/dunning-campaigns/dunning-counters.ts';
import { makeReceipt } from './areas/payments/payment-receipts/make-receipt.ts';
import { offerSetupPage } from './areas/payments/payments/checkout-url.ts';
import { endRefusedCharges } from './areas/payments/payments/give-up-payments.ts';
import { closePagesOfInvoice, closePagesOfProvider } from './areas/payments/payments/provider-pages.ts';
import * as selling from './areas/selling/announcements.ts';
import { createOrderForm } from './areas/selling/order-forms/create-order-form.ts';
import * as subscriptions from './areas/subscriptions/announcements.ts';
import { followAmountChange } from './areas/subscriptions/subscriptions/commands/amount-change.ts';
import { recheckNextBilling } from './areas/subscriptions/subscriptions/commands/next-billing.ts';
import {
  endSubscriptionsOfCustomer,
  endSubscriptionsOfPlans,
} from './areas/subscriptions/subscriptions/commands/terminate.ts';
import { followGatedPayment } from './areas/subscriptions/subscriptions/settle-gate.ts';
import { on, reactionTable } from './platform/reactions.ts';

/** The reactions to announcements, run in the announcing transaction in this order. */
export const reactions = reactionTable([
  on(messaging.mailFailed, recordMailFailed),

  on(catalog.metricFiltersChanged, trimChargeFilters),
  on(catalog.metricDeleted, deleteChargesOfMetric),
  on(catalog.couponDeleted, endUsesOfCoupon),
  on(catalog.plansEnd, endSubscriptionsOfPlans),
  on(catalog.planAmountChanged, followAmountChange),
  on(catalog.taxOfOrganizationChanged, applyTaxOfOrganization),

  on(customers.customerDeleted, endSubscriptionsOfCustomer, terminateWalletsOf, endCouponsOfCustomer),
  on(customers.vatNumberChecked, recordCheck),
  on(customers.taxFactsChanged, oweAskingAgain),
  on(customers.connectionWorks, oweAskingUnanswered),
  on(customers.timezoneChanged, recheckNextBilling),
  on(customers.dunningOfCustomerWished, assignToCustomer),
  on(customers.dunningOfEntityWished, assignToEntity),
  on(customers.paymentMethodWanted, offerSetupPage),
  on(customers.customerNeedsNoMethod, collectWithoutMethod),
  on(customers.pagesOfProviderOutdated, closePagesOfProvider),
  on(customers.providerDeleted, discardMethodsOfProvider),
  on(customers.customerLeftProvider, discardMethodsOfCustomer),

  on(subscriptions.paidSubscriptionEnds, creditUnusedDays),

  on(invoices.draftInvoiceDeleted, deleteDraftNotes),
  on(invoices.invoiceDueChanged, renewTransfers),
  on(
    invoices.invoicePaymentStatusChanged,
    closePagesOfInvoice,
    endRefusedCharges,
    endOtherMoney,
    resetDunningOfInvoice,
    followTopUpPayment,
    followGatedPayment,
  ),

  on(payments.paymentSucceeded, makeReceipt),

  on(billing.walletsUsed, refreshWalletsStep),

  on(selling.quoteApproved, createOrderForm),
]);
