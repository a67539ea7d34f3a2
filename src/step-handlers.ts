import { settleGateStep } from './areas/billing/activate-subscriptions/settle-gate.ts';
import { billFixedChargesStep } from './areas/billing/bill-fixed-charges/bill-fixed-charges.ts';
import { billInAdvance } from './areas/billing/bill-in-advance/bill-in-advance.ts';
import { billProgressively } from './areas/billing/bill-progressively/bill-progressively.ts';
import { billStep } from './areas/billing/bill-subscriptions/bill-after-change.ts';
import { finalizePlanDrafts } from './areas/billing/bill-subscriptions/finalize-plan-drafts.ts';
import { bookFirstCredits } from './areas/billing/bill-wallets/first-credits.ts';
import { refreshWalletsStep } from './areas/billing/bill-wallets/refresh-ongoing-balance.ts';
import { rematchEvents } from './areas/billing/correct-events/rematch-events.ts';
import { retractRange, settleCorrection } from './areas/billing/correct-events/retract-range.ts';
import { finalizePendingInvoice } from './areas/billing/finalize-invoice/finalize-pending.ts';
import { healPrices } from './areas/billing/heal-prices/heal-prices.ts';
import { finalizeCustomerDrafts, finalizeOneDraft, redateDrafts } from './areas/billing/redate-drafts/redate-drafts.ts';
import {
  estimateDraftTaxes,
  followFeeTaxes,
  reportNoteTaxes,
  taxStandaloneFees,
} from './areas/billing/request-taxes/request-taxes.ts';
import { takeInvoiceTaxesBack } from './areas/billing/request-taxes/take-back.ts';
import { rerateCalls } from './areas/billing/rerate-calls/rerate-calls.ts';
import { runInvoices } from './areas/billing/run-invoices/run-invoices.ts';
import { invoiceWaiting } from './areas/billing/settle-usage/invoice-differences.ts';
import { lookAtLateEvents, lookForLateEvents, settleGathered } from './areas/billing/settle-usage/late-events.ts';
import { reopenLateCorrection, settleLateEvents } from './areas/billing/settle-usage/settle-late-events.ts';
import { askTaxDouble } from './areas/billing/tax-engines/ask.ts';
import { askTaxesAgain } from './areas/billing/tax-engines/ask-again.ts';
import { deleteMetricEvents } from './areas/catalog/billable-metrics/jobs.ts';
import { cascadeFixedCharges } from './areas/catalog/plan-fixed-charges/cascade-fixed-charges.ts';
import { followPlanChanges } from './areas/catalog/plans/follow-changes.ts';
import { finishPlanDeletion } from './areas/catalog/plans/jobs.ts';
import { checkVatNumberStep } from './areas/customers/check-vat-numbers/sandbox-register.ts';
import { finishCustomerDeletion } from './areas/customers/customers/jobs.ts';
import { mailDocument } from './areas/documents/document-mails/commands.ts';
import { makeChosenEDocument } from './areas/documents/e-documents/commands.ts';
import { verifyInvoiceStep } from './areas/invoices/invoice-verifications/commands.ts';
import { chargeSandboxPayment, tellSandboxEvent } from './areas/payments/collect-payments/charge-sandbox.ts';
import { collectInvoice } from './areas/payments/collect-payments/collect-invoice.ts';
import { collectRequest } from './areas/payments/collect-payments/collect-request.ts';
import { handleProviderEvent } from './areas/payments/collect-payments/handle-event.ts';
import { importMethodsOfConnection } from './areas/payments/collect-payments/import-of-connection.ts';
import { refundSandboxNote, tellSandboxRefund } from './areas/payments/refund-notes/refund-sandbox.ts';
import { auditStep } from './areas/reporting/audit-books/audit.ts';
import { mailNotice } from './areas/reporting/mail-notices/mail-notice.ts';
import { announceBudgets } from './areas/usage/budget-holds/announce.ts';
import { buildShapeStep } from './areas/usage/build-shapes/build-shape.ts';
import { finishBatchStep } from './areas/usage/ingest-events/finish-batches.ts';
import { healEvents, recountUnmatched } from './areas/usage/ingest-events/heal-unmatched-events.ts';
import { tellMissingWalletsStep } from './areas/usage/ingest-events/missing-wallets.ts';
import { snapshotLastUsage } from './areas/usage/snapshot-usage/snapshot-last-usage.ts';
import { tellUnknownModel } from './areas/usage/unpriced-events/announce.ts';
import type { Context } from './platform/context.ts';
import type { StepName, StepPayload } from './steps.ts';

/**
 * Runs one after-step in a transaction of its own that also deletes its row; safe to run twice, because a step whose
 * transaction was lost runs again. `ctx.now()` is the organization's present, its actor the service.
 */
export type StepHandler<Name extends StepName> = (ctx: Context, payload: StepPayload<Name>) => Promise<void>;

/** Handlers of the rows of src/steps.ts. */
export const stepHandlers: { readonly [Name in StepName]: StepHandler<Name> } = {
  'audit-books': auditStep,
  'build-shape': buildShapeStep,
  'make-e-document': makeChosenEDocument,
  'finish-event-batch': finishBatchStep,
  'tell-missing-wallets': tellMissingWalletsStep,
  'heal-prices': healPrices,
  'rerate-calls': rerateCalls,
  'tell-unknown-models': tellUnknownModel,
  'heal-events': healEvents,
  'recount-unmatched': recountUnmatched,
  'finish-customer-deletion': finishCustomerDeletion,
  'finalize-customer-drafts': finalizeCustomerDrafts,
  'finish-plan-deletion': finishPlanDeletion,
  'cascade-plan-changes': followPlanChanges,
  'finalize-plan-drafts': finalizePlanDrafts,
  'delete-metric-events': deleteMetricEvents,
  'retract-range': retractRange,
  'settle-correction': settleCorrection,
  'settle-late-events': settleLateEvents,
  'look-for-late-events': lookForLateEvents,
  'settle-gathered-late-events': settleGathered,
  'look-at-late-events': lookAtLateEvents,
  'reopen-late-correction': reopenLateCorrection,
  'invoice-differences': invoiceWaiting,
  'rematch-events': rematchEvents,
  'bill-subscriptions': billStep,
  'settle-gate': settleGateStep,
  'bill-progressively': billProgressively,
  'snapshot-last-usage': snapshotLastUsage,
  'bill-fixed-charges': billFixedChargesStep,
  'cascade-fixed-charges': cascadeFixedCharges,
  'bill-in-advance': billInAdvance,
  'redate-drafts': redateDrafts,
  'finalize-draft': finalizeOneDraft,
  'run-invoices': runInvoices,
  'verify-invoice': verifyInvoiceStep,
  'finalize-pending-invoice': finalizePendingInvoice,
  'check-vat-number': checkVatNumberStep,
  'estimate-draft-taxes': estimateDraftTaxes,
  'tax-standalone-fees': taxStandaloneFees,
  'report-note-taxes': reportNoteTaxes,
  'follow-fee-taxes': followFeeTaxes,
  'take-invoice-taxes-back': takeInvoiceTaxesBack,
  'ask-taxes-again': askTaxesAgain,
  'ask-tax-double': askTaxDouble,
  'book-first-credits': bookFirstCredits,
  'announce-budgets': announceBudgets,
  'refresh-wallets': refreshWalletsStep,
  'collect-invoice': collectInvoice,
  'collect-payment-request': collectRequest,
  'import-methods-of-connection': importMethodsOfConnection,
  'charge-sandbox-payment': chargeSandboxPayment,
  'tell-sandbox-event': tellSandboxEvent,
  'mail-document': mailDocument,
  'mail-notice': mailNotice,
  'handle-provider-event': handleProviderEvent,
  'refund-sandbox-note': refundSandboxNote,
  'tell-sandbox-refund': tellSandboxRefund,
};
