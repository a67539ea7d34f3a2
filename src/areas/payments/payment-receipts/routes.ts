import type { Operation } from '../../../platform/operation.ts';
import { downloadReceipt } from './commands.ts';
import { listReceiptsPage, showReceipt } from './reads.ts';
import { ReceiptEnvelope, ReceiptList, ReceiptsQuery } from './schema.ts';

// A key that may read invoices may read their receipts (api-keys.md#permissions).
const common = { permission: ['payment_receipt', 'invoice'], tag: 'payment_receipts' } as const;

const download: Operation = {
  ...common,
  name: 'downloadPaymentReceipt',
  method: 'post',
  path: '/payment_receipts/:svc_id/download',
  summary: 'Get the document of a payment receipt',
  answer: ReceiptEnvelope,
  kind: 'command',
  run: downloadReceipt,
};

export const paymentReceiptOperations: Operation[] = [
  {
    ...common,
    name: 'findAllPaymentReceipts',
    method: 'get',
    path: '/payment_receipts',
    summary: 'List all payment receipts',
    query: ReceiptsQuery,
    answer: ReceiptList,
    kind: 'read',
    run: listReceiptsPage,
  },
  {
    ...common,
    name: 'findPaymentReceipt',
    method: 'get',
    path: '/payment_receipts/:svc_id',
    summary: 'Retrieve a payment receipt',
    answer: ReceiptEnvelope,
    kind: 'read',
    run: showReceipt,
  },
  download,
  { ...download, name: 'downloadPaymentReceiptPdf', path: '/payment_receipts/:svc_id/download_pdf', hidden: true },
];
