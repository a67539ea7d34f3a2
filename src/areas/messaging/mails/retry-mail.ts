import type { Context } from '../../../platform/context.ts';
import { type DocumentId, isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { askAgain } from '../documents/ask-for-document.ts';
import { releaseAgain } from './post-mail.ts';
import { showMail } from './reads.ts';
import type { MailEnvelope } from './schema.ts';

/**
 * Sends a mail that did not go out: the same content, its links made anew, to the addresses that have not got it.
 *
 * @throws Refusal 404 mail; 405 invalid_status, of one that was sent, still tries or keeps no texts any more; 403
 *   feature_unavailable, while there is no mail server
 * Rule: mails.md#the-log.
 */
export async function retryMail(ctx: Context, { svc_id: id }: { svc_id: string }): Promise<MailEnvelope> {
  const { db, organizationId } = ctx;
  const [mail] = isUuid(id)
    ? await db<{ status: string; has_texts: boolean; document_id: DocumentId | null }[]>`
        select status, body <> '' as has_texts, document_id from mails
        where organization_id = ${organizationId} and id = ${id} for update`
    : [];
  if (!mail) throw refuse.notFound('mail');
  if (!['failed', 'unsent'].includes(mail.status) || !mail.has_texts) throw refuse.notAllowed('invalid_status');
  if (!ctx.sandbox && ctx.config.SMTP_URL === undefined) throw refuse.forbidden('feature_unavailable');
  await db`
    update mails set status = 'waiting', attempts = 0, error = null, next_attempt_at = null,
      recipient_states = (
        select coalesce(jsonb_agg(state), '[]') from jsonb_array_elements(recipient_states) state
        where state ->> 'state' = 'accepted')
    where organization_id = ${organizationId} and id = ${id}`;
  if (mail.document_id !== null) await askAgain(ctx, mail.document_id);
  await releaseAgain(ctx, id);
  return showMail(ctx, { svc_id: id });
}
