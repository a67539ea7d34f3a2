import type { Operation } from '../platform/operation.ts';
import { createAdjustedFee, destroyAdjustedFee, previewAdjustedFee } from './adjust-fee/adjust-fee.ts';
import { billOneOff } from './bill-one-off/bill-one-off.ts';
import { retryPayment } from './collect-payments/collect-invoice.ts';
import { createCorrection } from './correct-events/create-correction.ts';
import { executeOrder } from './execute-orders/execute-order.ts';
import { finalizeInvoice } from './finalize-invoice/finalize-invoice.ts';
import { previewInvoice } from './preview-invoice/preview-invoice.ts';
import { refreshInvoice } from './refresh-invoice/refresh-invoice.ts';
import { regenerateInvoice } from './regenerate-invoice/regenerate-invoice.ts';
import { downloadXmlOfInvoice, downloadXmlOfNote } from './render-documents/e-documents/download.ts';
import { createWalletTransaction } from './wallets/create-transactions.ts';

/**
 * Commands that walk through several rooms, by the name of their operation: rooms cannot import flows, so such a row of
 * theirs has `run: runsAsFlow`, and the writes pool runs the flow in the same transaction as any other command.
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
  executeOrder,
  createEventCorrection: createCorrection,
  downloadInvoiceXml: downloadXmlOfInvoice,
  downloadCreditNoteXml: downloadXmlOfNote,
};
