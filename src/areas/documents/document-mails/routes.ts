import type { Operation } from '../../../platform/operation.ts';
import { NoBody } from '../../payments/payments/schema.ts';
import { resendCreditNote, resendInvoice, resendReceipt } from './commands.ts';
import { ResendEmail } from './schema.ts';

const shared = { method: 'post', kind: 'command', body: ResendEmail, bodyOptional: true, answer: NoBody } as const;

/** Mails of documents, sent again. Rule: other-routes.md. */
export const documentMailOperations: Operation[] = [
  {
    ...shared,
    name: 'resendInvoiceEmail',
    path: '/invoices/:svc_id/resend_email',
    permission: 'invoice',
    tag: 'invoices',
    summary: 'Mail an invoice again',
    run: resendInvoice,
  },
  {
    ...shared,
    name: 'resendCreditNoteEmail',
    path: '/credit_notes/:svc_id/resend_email',
    permission: 'credit_note',
    tag: 'credit_notes',
    summary: 'Mail a credit note again',
    run: resendCreditNote,
  },
  {
    ...shared,
    name: 'resendPaymentReceiptEmail',
    path: '/payment_receipts/:svc_id/resend_email',
    permission: 'payment_receipt',
    tag: 'payment_receipts',
    summary: 'Mail a payment receipt again',
    run: resendReceipt,
  },
];
