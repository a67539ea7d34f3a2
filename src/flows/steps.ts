import type { Context } from '../platform/context.ts';
import { deleteMetricEvents } from '../resources/billable-metrics/jobs.ts';
import { finishCustomerDeletion } from '../resources/customers/jobs.ts';
import { mailDocument } from '../resources/document-mails/commands.ts';
import { cascadeFixedCharges } from '../resources/fixed-charges/cascade.ts';
import { verifyInvoiceStep } from '../resources/invoice-verifications/commands.ts';
import { followPlanChanges } from '../resources/plans/follow-changes.ts';
import { finishPlanDeletion } from '../resources/plans/jobs.ts';
import { settleGateStep } from './activate-subscriptions/settle-gate.ts';
import { auditStep } from './audit-books/audit.ts';
import { billFixedChargesStep } from './bill-fixed-charges/step.ts';
import { billInAdvance } from './bill-in-advance/step.ts';
import { billProgressively } from './bill-progressively/bill-progressively.ts';
import { finalizePlanDrafts } from './bill-subscriptions/finalize-plan-drafts.ts';
import { billStep } from './bill-subscriptions/step.ts';
import { buildShapeStep } from './build-shapes/build-shape.ts';
import { checkVatNumberStep } from './check-vat-numbers/sandbox-step.ts';
import { chargeSandboxPayment, tellSandboxEvent } from './collect-payments/charge-sandbox.ts';
import { collectInvoice } from './collect-payments/collect-invoice.ts';
import { collectRequest } from './collect-payments/collect-request.ts';
import { handleProviderEvent } from './collect-payments/handle-event.ts';
import { rematchEvents } from './correct-events/rematch-events.ts';
import { retractRange, settleCorrection } from './correct-events/retract-range.ts';
import { finalizePendingInvoice } from './finalize-invoice/pending.ts';
import { finishBatchStep } from './ingest-events/finish-batches.ts';
import { healEvents, recountUnmatched } from './ingest-events/heal.ts';
import { tellMissingWalletsStep } from './ingest-events/missing-wallets.ts';
import { finalizeCustomerDrafts, finalizeOneDraft, redateDrafts } from './redate-drafts/steps.ts';
import { refundSandboxNote, tellSandboxRefund } from './refund-notes/refund-sandbox.ts';
import { runInvoices } from './run-invoices/step.ts';
import { invoiceWaiting } from './settle-usage/invoice-differences.ts';
import { settleLateEvents } from './settle-usage/late-events.ts';
import { snapshotLastUsage } from './snapshot-usage/last-usage.ts';
import { bookFirstCredits } from './wallets/first-credits.ts';
import { refreshWalletsStep } from './wallets/refresh.ts';

/**
 * Runs one after-step in a transaction of its own that also deletes its row; safe to run twice, since a step whose
 * transaction was lost is run again. `ctx.now()` is the organization's present, its actor the service.
 */
// biome-ignore lint/suspicious/noExplicitAny: the name ties the payload of `ctx.after` and its handler together
export type StepHandler = (ctx: Context, payload: any) => Promise<void>;

/** Every after-step by the name under which `ctx.after` left it (README decision 7). */
export const stepHandlers: Readonly<Record<string, StepHandler>> = {
  'audit-books': auditStep,
  'build-shape': buildShapeStep,
  'finish-event-batch': finishBatchStep,
  'tell-missing-wallets': tellMissingWalletsStep,
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
  'book-first-credits': bookFirstCredits,
  'refresh-wallets': refreshWalletsStep,
  'collect-invoice': collectInvoice,
  'collect-payment-request': collectRequest,
  'charge-sandbox-payment': chargeSandboxPayment,
  'tell-sandbox-event': tellSandboxEvent,
  'mail-document': mailDocument,
  'handle-provider-event': handleProviderEvent,
  'refund-sandbox-note': refundSandboxNote,
  'tell-sandbox-refund': tellSandboxRefund,
};
