import { z } from 'zod';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';

export const MailsQuery = z.object(countedPageQuery);
export type MailsQuery = z.infer<typeof MailsQuery>;

export const MailList = z.object({
  mails: z.array(
    z.object({
      svc_id: z.uuid(),
      status: z.enum(['waiting', 'pending', 'sent', 'failed', 'unsent']),
      document_type: z.enum(['invoice', 'credit_note', 'payment_receipt']).nullable(),
      svc_document_subject_id: z.uuid().nullable(),
      subject: z.string(),
      attempts: z.int(),
      error: z.string().nullable(),
      next_attempt_at: z.string().nullable(),
      sent_at: z.string().nullable(),
      created_at: z.string(),
      recipients: z.array(
        z.object({
          address: z.string(),
          kind: z.enum(['to', 'cc', 'bcc']),
          state: z.enum(['open', 'accepted', 'refused', 'deferred']),
          error: z.string().nullable(),
        }),
      ),
    }),
  ),
  meta: PageMeta,
});
export type MailList = z.infer<typeof MailList>;
