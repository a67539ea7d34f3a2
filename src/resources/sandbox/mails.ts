import type { Context } from '../../platform/context.ts';
import { newId } from '../../platform/ids.ts';

/** A mail; in a sandbox it is kept to be read instead of sent. Rule: beyond 13.3. */
export interface Mail {
  to: string | null;
  bcc?: readonly string[];
  subject: string;
  text: string;
}

/** Keeps a mail of a sandbox. Nobody else's mails are sent yet. */
export async function keepMail(ctx: Context, mail: Mail): Promise<void> {
  const recipients = (mail.to ?? '').split(',').filter((address) => address !== '');
  if (!ctx.sandbox || recipients.length === 0) return;
  await ctx.db`
    insert into sandbox_mails (id, organization_id, recipients, bcc, subject, body, created_at)
    values (${newId()}, ${ctx.organizationId}, ${recipients}, ${(mail.bcc ?? []) as string[]}, ${mail.subject},
      ${mail.text}, ${ctx.now()})`;
}
