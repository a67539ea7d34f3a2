import { expireGates } from './areas/billing/activate-subscriptions/expire-gates.ts';
import { bill } from './areas/billing/bill-subscriptions/bill.ts';
import { finalize } from './areas/billing/bill-subscriptions/finalize-drafts.ts';
import { overdue } from './areas/billing/bill-subscriptions/flag-overdue.ts';
import { activate } from './areas/billing/bill-subscriptions/start-pending.ts';
import { stuckInvoices } from './areas/billing/bill-subscriptions/stuck-invoices.ts';
import { terminateEnded } from './areas/billing/bill-subscriptions/terminate-ended.ts';
import { trialEnd } from './areas/billing/bill-subscriptions/trial-end.ts';
import { expireTopUpRules, expireWallets, intervalTopUps, walletOngoing } from './areas/billing/bill-wallets/jobs.ts';
import { retryFailedInvoices } from './areas/billing/finalize-invoice/retry-failed.ts';
import { sweepUnpriced } from './areas/billing/heal-prices/jobs.ts';
import { refreshDrafts } from './areas/billing/refresh-invoice/refresh-drafts.ts';
import { lateEvents } from './areas/billing/settle-usage/late-events.ts';
import { retryTaxes } from './areas/billing/tax-engines/retry-taxes.ts';
import { lifetimeUsage, usageActivity } from './areas/billing/watch-usage/usage-activity.ts';
import { warnOfPriceAge } from './areas/catalog/price-book/price-age.ts';
import { expireCoupons } from './areas/credits/expire-coupons/expire-coupons.ts';
import { expireHolds } from './areas/credits/wallet-holds/expire-holds.ts';
import { euTaxRates } from './areas/customers/check-vat-numbers/eu-rates.ts';
import { archiveRoots } from './areas/documents/archive/archive-roots.ts';
import { sendEDocuments } from './areas/documents/e-documents/transmissions/jobs.ts';
import { ledgerDaily } from './areas/ledger/roll-up-ledger/ledger-daily.ts';
import { cleanWebhooks, endpointHealth, webhookSweeper } from './areas/messaging/deliver-webhooks/jobs.ts';
import { releaseAuthorizations } from './areas/payments/collect-payments/authorizations.ts';
import { checkProviders } from './areas/payments/collect-payments/check-providers.ts';
import { cleanProviderEvents } from './areas/payments/collect-payments/clean-provider-events.ts';
import { cleanSecrets } from './areas/payments/collect-payments/clean-secrets.ts';
import { retryProviderEvents } from './areas/payments/collect-payments/retry-provider-events.ts';
import { dunning } from './areas/payments/dun/dunning.ts';
import { reconcileProviders, resumeReconciliations } from './areas/payments/reconcile-providers/start-runs.ts';
import { auditFull, auditRecent } from './areas/reporting/audit-books/jobs.ts';
import { trialMails } from './areas/reporting/mail-notices/trial-mails.ts';
import { executeOrders, expireOrderForms } from './areas/selling/execute-orders/jobs.ts';
import { retention } from './areas/tenancy/retain-rows/delete-by-class.ts';
import { sumAiDays } from './areas/usage/ai-usage-sums/sum-days.ts';
import { sweepBudgets } from './areas/usage/budget-holds/sweep-budgets.ts';
import { rollupAudit } from './areas/usage/build-shapes/repair-hours.ts';
import { volumeHours } from './areas/usage/event-volumes/jobs.ts';
import { validateEvents } from './areas/usage/ingest-events/validate-events.ts';
import { cleanDeadLetters } from './areas/usage/ingestion/clean-dead-letters.ts';
import { dailyUsage } from './areas/usage/snapshot-usage/snapshot-daily-usage.ts';
import { cleanIdempotency } from './jobs/sweep-rows/clean-idempotency.ts';
import { cleanSessions } from './jobs/sweep-rows/clean-sessions.ts';
import { housekeeping } from './jobs/sweep-rows/housekeeping.ts';
import { keyUsage } from './jobs/sweep-rows/key-usage.ts';
import { rowSweeper } from './jobs/sweep-rows/row-sweeper.ts';
import type { PeriodicJob, SweepJob } from './platform/periodic-job.ts';

/** Jobs of clock B, for work that falls due in an organization's own time. Each has its row in src/schedule.ts. */
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
  retryTaxes,
  retryFailedInvoices,
  trialEnd,
  trialMails,
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
  sweepBudgets,
  expireHolds,
  dailyUsage,
];

/** Jobs of clock R: sweeping and cleaning for all organizations alike. Each has its row in src/schedule.ts. */
export const sweepJobs: readonly SweepJob[] = [
  rowSweeper,
  retryProviderEvents,
  sweepUnpriced,
  sumAiDays,
  checkProviders,
  releaseAuthorizations,
  reconcileProviders,
  resumeReconciliations,
  webhookSweeper,
  endpointHealth,
  keyUsage,
  cleanIdempotency,
  cleanSessions,
  volumeHours,
  cleanWebhooks,
  cleanProviderEvents,
  cleanDeadLetters,
  cleanSecrets,
  housekeeping,
  retention,
  warnOfPriceAge,
  ledgerDaily,
  rollupAudit,
  auditRecent,
  auditFull,
  archiveRoots,
  sendEDocuments,
];
