import { askAboutKey } from './areas/customers/integrations/check-first.ts';
import { askForAuthorization } from './areas/payments/collect-payments/authorizations.ts';
import {
  askAboutChangedConnection,
  askAboutConnection,
  askAboutNewConnection,
} from './areas/payments/collect-payments/check-connection.ts';
import { askForCustomer } from './areas/payments/collect-payments/create-customer.ts';
import { askForMethods } from './areas/payments/collect-payments/import-by-hand.ts';
import { askAboutDrift } from './areas/payments/reconcile-providers/ask-about-drift.ts';
import type { PreStep } from './platform/pre-step.ts';

/**
 * What commands ask a provider before their transaction, by the name of their operation, whose row has `asks`. The
 * `asking` pool runs them; see docs/architecture.md "Commands that ask first".
 */
export const preSteps: Readonly<Record<string, PreStep>> = {
  createPaymentProvider: askAboutNewConnection,
  updatePaymentProvider: askAboutChangedConnection,
  patchPaymentProvider: askAboutChangedConnection,
  checkPaymentProvider: askAboutConnection,
  createIntegration: askAboutKey,
  updateIntegration: askAboutKey,
  patchIntegration: askAboutKey,
  createSubscription: askForAuthorization,
  createCustomer: askForCustomer,
  importCustomerPaymentMethods: askForMethods,
  repairProviderDrift: askAboutDrift,
};
