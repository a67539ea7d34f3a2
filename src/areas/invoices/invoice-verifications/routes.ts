import type { Operation } from '../../../platform/operation.ts';
import { showVerification, verifyInvoice } from './commands.ts';
import { VerificationCreate, VerificationEnvelope } from './schema.ts';

export const invoiceVerificationOperations: Operation[] = [
  {
    name: 'verifyInvoice',
    method: 'post',
    path: '/invoices/:svc_id/verify',
    permission: 'invoice',
    mode: 'read',
    summary: 'Compute an issued invoice again and compare',
    tag: 'invoices',
    root: 'verification',
    bodyOptional: true,
    body: VerificationCreate,
    answer: VerificationEnvelope,
    kind: 'command',
    onlyAnswers: true,
    run: verifyInvoice,
  },
  {
    name: 'findVerification',
    method: 'get',
    path: '/verifications/:svc_id',
    permission: 'invoice',
    summary: 'Retrieve the result of a verification',
    tag: 'invoices',
    answer: VerificationEnvelope,
    kind: 'read',
    run: showVerification,
  },
];
