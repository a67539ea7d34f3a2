import { createAdjustedFee, destroyAdjustedFee, previewAdjustedFee } from './areas/billing/adjust-fee/adjust-fee.ts';
import { billOneOff } from './areas/billing/bill-one-off/bill-one-off.ts';
import { createWalletTransaction } from './areas/billing/bill-wallets/create-transactions.ts';
import { createCorrection } from './areas/billing/correct-events/create-correction.ts';
import { finalizeInvoice } from './areas/billing/finalize-invoice/finalize-invoice.ts';
import { previewInvoice } from './areas/billing/preview-invoice/preview-invoice.ts';
import { refreshInvoice } from './areas/billing/refresh-invoice/refresh-invoice.ts';
import { regenerateInvoice } from './areas/billing/regenerate-invoice/regenerate-invoice.ts';
import { voidInvoice } from './areas/billing/void-invoice/void-invoice.ts';
import { checkAndHold } from './areas/credits/wallet-holds/check-and-hold.ts';
import { downloadXmlOfInvoice, downloadXmlOfNote } from './areas/documents/e-documents/download.ts';
import { retryPayment } from './areas/payments/collect-payments/collect-invoice.ts';
import { importMethodsNow } from './areas/payments/collect-payments/import-by-hand.ts';
import { startMethodsImport } from './areas/payments/collect-payments/import-of-connection.ts';
import { repairByHand } from './areas/payments/reconcile-providers/repair-by-hand.ts';
import { executeOrder } from './areas/selling/execute-orders/execute-order.ts';
import type { Operation } from './platform/operation.ts';

/**
 * Commands that need several rooms, by the name of their operation. A room cannot import higher areas, so the
 * operation's row has `run: runsAsFlow`, and the writes pool runs the flow in the command's transaction.
 */
export const flowCommands: Readonly<Record<string, Operation['run']>> = {
  createInvoice: billOneOff,
  refreshInvoice,
  finalizeInvoice,
  invoicePreview: previewInvoice,
  createAdjustedFee,
  previewAdjustedFee,
  destroyAdjustedFee,
  regenerateInvoice,
  createWalletTransaction,
  retryPayment,
  importCustomerPaymentMethods: importMethodsNow,
  importPaymentMethodsOfProvider: startMethodsImport,
  repairProviderDrift: repairByHand,
  voidInvoice,
  checkAccess: checkAndHold,
  executeOrder,
  createEventCorrection: createCorrection,
  downloadInvoiceXml: downloadXmlOfInvoice,
  downloadCreditNoteXml: downloadXmlOfNote,
};
