import type { Operation } from '../../../platform/operation.ts';
import { InvoiceEnvelope } from '../../invoices/invoices/schema.ts';
import { reverseWriteOff, writeOffInvoice } from './commands.ts';
import { WriteOffCreate } from './schema.ts';

const shared = {
  method: 'post',
  permission: 'invoice',
  tag: 'invoices',
  kind: 'command',
  answer: InvoiceEnvelope,
} as const;

/** Write-offs of invoices and their reversal. Rule: ledger.md#write-off. */
export const writeOffOperations: Operation[] = [
  {
    ...shared,
    name: 'writeOffInvoice',
    path: '/invoices/:svc_id/write_off',
    summary: 'Give up what is due of an invoice',
    description: 'It is owed no longer by the books, and dunning ends.',
    root: 'write_off',
    body: WriteOffCreate,
    run: writeOffInvoice,
  },
  {
    ...shared,
    name: 'reverseInvoiceWriteOff',
    path: '/invoices/:svc_id/write_off/reverse',
    summary: 'Take back what was given up of an invoice',
    run: reverseWriteOff,
  },
];
