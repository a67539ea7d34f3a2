import type { PeriodicJob, SweepJob } from '../platform/periodic-job.ts';
import { expireGates } from './activate-subscriptions/expire-gates.ts';
import { auditFull, auditRecent } from './audit-books/jobs.ts';
import { activate } from './bill-subscriptions/activate.ts';
import { bill } from './bill-subscriptions/bill.ts';
import { finalize } from './bill-subscriptions/finalize.ts';
import { overdue } from './bill-subscriptions/overdue.ts';
import { stuckInvoices } from './bill-subscriptions/stuck-invoices.ts';
import { terminateEnded } from './bill-subscriptions/terminate-ended.ts';
import { trialEnd } from './bill-subscriptions/trial-end.ts';
import { rollupAudit } from './build-shapes/repair.ts';
import { euTaxRates } from './check-vat-numbers/eu-rates.ts';
import { cleanProviderEvents } from './collect-payments/clean-provider-events.ts';
import { cleanSecrets } from './collect-payments/clean-secrets.ts';
import { retryProviderEvents } from './collect-payments/retry-provider-events.ts';
import { cleanWebhooks, endpointHealth, webhookSweeper } from './deliver-webhooks/jobs.ts';
import { dunning } from './dun/dunning.ts';
import { executeOrders, expireOrderForms } from './execute-orders/jobs.ts';
import { expireCoupons } from './expire-coupons/expire-coupons.ts';
import { retryFailedInvoices } from './finalize-invoice/retry-failed.ts';
import { validateEvents } from './ingest-events/validate-events.ts';
import { refreshDrafts } from './refresh-invoice/refresh-drafts.ts';
import { retention } from './retain-rows/retention.ts';
import { ledgerDaily } from './roll-up-ledger/ledger-daily.ts';
import { lateEvents } from './settle-usage/late-events.ts';
import { dailyUsage } from './snapshot-usage/daily-usage.ts';
import { cleanIdempotency } from './sweep-rows/clean-idempotency.ts';
import { housekeeping } from './sweep-rows/housekeeping.ts';
import { keyUsage } from './sweep-rows/key-usage.ts';
import { rowSweeper } from './sweep-rows/row-sweeper.ts';
import { expireHolds } from './wallet-holds/expire-holds.ts';
import { expireTopUpRules, expireWallets, intervalTopUps, walletOngoing } from './wallets/jobs.ts';
import { lifetimeUsage, usageActivity } from './watch-usage/usage-activity.ts';

/** Jobs of clock B: what falls due in an organization's own time. Each has its row in src/schedule.ts. */
export const periodicJobs: readonly PeriodicJob[] = [
  activate,
  terminateEnded,
  euTaxRates,
  validateEvents,
  bill,
  expireGates,
  finalize,
  overdue,
  stuckInvoices,
  expireCoupons,
  retryFailedInvoices,
  trialEnd,
  lateEvents,
  expireOrderForms,
  dunning,
  executeOrders,
  refreshDrafts,
  usageActivity,
  lifetimeUsage,
  walletOngoing,
  expireWallets,
  expireTopUpRules,
  intervalTopUps,
  expireHolds,
  dailyUsage,
];

/** Jobs of clock R: sweeping and cleaning for all organizations alike. Each has its row in src/schedule.ts. */
export const sweepJobs: readonly SweepJob[] = [
  rowSweeper,
  retryProviderEvents,
  webhookSweeper,
  endpointHealth,
  keyUsage,
  cleanIdempotency,
  cleanWebhooks,
  cleanProviderEvents,
  cleanSecrets,
  housekeeping,
  retention,
  ledgerDaily,
  rollupAudit,
  auditRecent,
  auditFull,
];
