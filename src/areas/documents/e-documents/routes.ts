import type { Operation } from '../../../platform/operation.ts';
import { ProfileQuery } from '../../messaging/documents/profile-query.ts';
import { createInvoiceEDocument, createNoteEDocument, retryEDocument } from './commands.ts';
import { checkCustomer, checkEntity, showEDocument, showEDocuments } from './reads.ts';
import {
  EDocumentCheckEnvelope,
  EDocumentCreate,
  EDocumentEnvelope,
  EDocumentList,
  EDocumentsQuery,
} from './schema.ts';
import { sendEDocument } from './transmissions/commands.ts';

const common = { permission: 'e_document', tag: 'e_documents' } as const;
const read = { ...common, method: 'get', kind: 'read' } as const;
const check = { ...read, query: ProfileQuery, answer: EDocumentCheckEnvelope } as const;
const write = { ...common, method: 'post', kind: 'command', answer: EDocumentEnvelope } as const;
const make = { ...write, root: 'e_document', body: EDocumentCreate } as const;

/** Electronic documents. Rule: e-documents.md#when. */
export const eDocumentOperations: Operation[] = [
  {
    ...read,
    name: 'findAllEDocuments',
    path: '/e_documents',
    summary: 'List electronic documents',
    query: EDocumentsQuery,
    answer: EDocumentList,
    run: showEDocuments,
  },
  {
    ...read,
    name: 'findEDocument',
    path: '/e_documents/:svc_id',
    summary: 'Retrieve an electronic document',
    answer: EDocumentEnvelope,
    run: showEDocument,
  },
  {
    ...write,
    name: 'retryEDocument',
    path: '/e_documents/:svc_id/retry',
    summary: 'Try a failed electronic document again',
    run: retryEDocument,
  },
  {
    ...write,
    name: 'sendEDocument',
    path: '/e_documents/:svc_id/send',
    summary: 'Send an electronic document to its receiver through the access point',
    run: sendEDocument,
  },
  {
    ...make,
    name: 'createInvoiceEDocument',
    path: '/invoices/:svc_id/e_documents',
    summary: 'Make the electronic document of an invoice in a profile',
    run: createInvoiceEDocument,
  },
  {
    ...make,
    name: 'createCreditNoteEDocument',
    path: '/credit_notes/:svc_id/e_documents',
    summary: 'Make the electronic document of a credit note in a profile',
    run: createNoteEDocument,
  },
  {
    ...check,
    name: 'checkCustomerEDocuments',
    path: '/customers/:external_id/e_document_check',
    summary: 'See what electronic documents to a customer would lack',
    run: checkCustomer,
  },
  {
    ...check,
    name: 'checkBillingEntityEDocuments',
    path: '/billing_entities/:code/e_document_check',
    summary: 'See what electronic documents of a billing entity would lack',
    run: checkEntity,
  },
];
