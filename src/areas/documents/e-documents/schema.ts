import { z } from 'zod';
import { PROFILES } from '../../../engine/e-documents/profiles.ts';
import { dayFilter, listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { INVALID, oneOf } from '../../../platform/schema/fields.ts';
import { TRANSMISSION_STATUSES } from '../../../platform/senders/port.ts';
import { TransmissionView } from './transmissions/schema.ts';

export const STATUSES = ['pending', 'ready', 'failed'] as const;

const oneOfList = (words: readonly string[]) =>
  listFilter.refine((values) => values === undefined || values.every((value) => words.includes(value)), INVALID);

/** Input of the routes that make a document; without a profile it is the chosen one. */
export const EDocumentCreate = z.object({ profile: oneOf(PROFILES).optional() });
export type EDocumentCreate = z.infer<typeof EDocumentCreate>;

/** Filters of `GET /e_documents`. */
export const EDocumentsQuery = z.object({
  ...pageQuery,
  profiles: oneOfList(PROFILES),
  statuses: oneOfList(STATUSES),
  transmission_statuses: oneOfList(TRANSMISSION_STATUSES),
  external_customer_id: textFilter,
  issued_from: dayFilter,
  issued_to: dayFilter,
});
export type EDocumentsQuery = z.infer<typeof EDocumentsQuery>;

const ProblemView = z.object({
  rule: z.string(),
  severity: z.enum(['error', 'warning']),
  resource: z.enum(['billing_entity', 'customer', 'invoice', 'credit_note', 'tax']),
  field: z.string(),
  text: z.string(),
});

export const EDocumentView = z.object({
  svc_id: z.uuid(),
  subject_type: z.enum(['Invoice', 'CreditNote']),
  svc_subject_id: z.uuid(),
  kind: z.enum(['document', 'cancellation']),
  number: z.string(),
  issuing_date: z.string(),
  profile: z.enum(PROFILES),
  status: z.enum(STATUSES),
  problems: z.array(ProblemView),
  sha256: z.string().nullable(),
  size: z.int().nullable(),
  file_url: z.string().nullable(),
  transmissions: z.array(TransmissionView),
  retain_until: z.string(),
  created_at: z.iso.datetime(),
  ready_at: z.iso.datetime().nullable(),
});
export type EDocumentView = z.infer<typeof EDocumentView>;

export const EDocumentEnvelope = z.object({ e_document: EDocumentView });
export const EDocumentList = z.object({ e_documents: z.array(EDocumentView), meta: PageMeta });
export const EDocumentCheckEnvelope = z.object({
  e_document_check: z.object({
    profile: z.enum(PROFILES),
    ready: z.boolean(),
    missing: z.array(ProblemView),
  }),
});
