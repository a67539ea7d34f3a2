import { z } from 'zod';
import { textFilter, wordsFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { TEMPLATE_NAMES } from './templates.ts';

const STATUSES = ['waiting', 'pending', 'sent', 'failed', 'unsent'] as const;

/** Filters of the log of mails, all optional. Rule: mails.md#the-log. */
export const MailsQuery = z.object({
  ...countedPageQuery,
  external_customer_id: textFilter,
  templates: wordsFilter(TEMPLATE_NAMES),
  statuses: wordsFilter(STATUSES),
  resource_id: textFilter,
  from_date: fromFilter,
  to_date: untilFilter,
});
export type MailsQuery = z.infer<typeof MailsQuery>;

const TextOrNull = z.string().nullable();
const addresses = z.array(z.string());

const row = {
  svc_id: z.uuid(),
  template: z.enum(TEMPLATE_NAMES).nullable(),
  locale: TextOrNull,
  status: z.enum(STATUSES),
  to: addresses,
  cc: addresses,
  bcc: addresses,
  subject: z.string(),
  external_customer_id: TextOrNull,
  resource_type: TextOrNull,
  svc_resource_id: z.uuid().nullable(),
  document_type: z.enum(['invoice', 'credit_note', 'payment_receipt']).nullable(),
  svc_document_subject_id: z.uuid().nullable(),
  attempts: z.int(),
  error: TextOrNull,
  next_attempt_at: TextOrNull,
  sent_at: TextOrNull,
  created_at: z.string(),
  recipients: z.array(
    z.object({
      address: z.string(),
      kind: z.enum(['to', 'cc', 'bcc']),
      state: z.enum(['open', 'accepted', 'refused', 'deferred']),
      error: TextOrNull,
    }),
  ),
};

export const MailList = z.object({ mails: z.array(z.object(row)), meta: PageMeta });
export type MailList = z.infer<typeof MailList>;

export const MailEnvelope = z.object({
  mail: z.object({
    ...row,
    html: TextOrNull,
    text: z.string(),
    attachments: z.array(z.object({ file_name: z.string(), bytes: z.int() })),
  }),
});
export type MailEnvelope = z.infer<typeof MailEnvelope>;
