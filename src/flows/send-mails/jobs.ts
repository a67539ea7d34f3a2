import { realNow } from '../../platform/clock/real-clock.ts';
import type { Context } from '../../platform/context.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import type { SweepDeps } from '../../platform/periodic-job.ts';
import type { Handlers } from '../../platform/queue/worker.ts';
import { type SystemDeps, systemTransaction } from '../../platform/records/system-transaction.ts';
import { recordMailFailed } from '../../resources/document-mails/commands.ts';
import {
  listDueMails,
  noteFailure,
  noteSent,
  noteUnsent,
  type PendingMail,
  takeMail,
} from '../../resources/mails/queries.ts';

/** After a failed attempt the next one waits this long; then the mail has failed. About a day in all. */
const PAUSES_MINUTES = [1, 5, 30, 120, 480, 960];
/** Longer than any attempt takes: a mail whose process died is taken up again after it. */
const TAKEN_MINUTES = 5;
const DUE_AT_ONCE = 500;

/**
 * Handler of `mail.send`: one attempt at a mail, if it is due. Its row is what is owed, so the job itself never fails; the
 * sweeper sends it again.
 */
export function mailHandlers(deps: SystemDeps, mailer: Mailer | undefined): Pick<Handlers, 'mail.send'> {
  const { sql, log } = deps;
  return {
    async 'mail.send'({ organization_id: organizationId, mail_id: id }) {
      if (mailer === undefined) {
        log.warn({ organizationId, mailId: id }, 'mail not sent: no SMTP_URL');
        await noteUnsent(sql, organizationId, id);
        return;
      }
      const now = realNow();
      const mail = await takeMail(sql, organizationId, id, { now, until: now.add({ minutes: TAKEN_MINUTES }) });
      if (!mail) return;
      try {
        await mailer.send({
          id,
          senderName: mail.sender_name,
          replyTo: mail.reply_to,
          to: mail.recipients,
          cc: mail.cc,
          bcc: mail.bcc,
          subject: mail.subject,
          text: mail.body,
          attachment:
            mail.content === null
              ? null
              : { fileName: mail.file_name!, contentType: mail.content_type!, content: mail.content },
        });
      } catch (error) {
        const pause = PAUSES_MINUTES[mail.attempts - 1];
        const message = error instanceof Error ? error.message : String(error);
        log.warn({ organizationId, mailId: id, attempts: mail.attempts, err: error }, 'mail not taken');
        if (pause === undefined) return giveUp(deps, organizationId, mail, message);
        const nextAt = realNow().add({ minutes: pause });
        await noteFailure(sql, organizationId, id, { error: message, nextAt });
        return;
      }
      await noteSent(sql, organizationId, id, realNow());
    },
  };
}

/** Ends a mail that nobody took. Only sandboxes may have a test clock, and theirs never come here. */
async function giveUp(deps: SystemDeps, organizationId: string, mail: PendingMail, error: string): Promise<void> {
  const work = async (ctx: Context) => {
    await noteFailure(ctx.db, organizationId, mail.id, { error, nextAt: null });
    await recordMailFailed(ctx, mail, error);
  };
  await systemTransaction(deps, { id: organizationId, sandbox: false }, async () => realNow(), work);
}

/** Enqueues mails whose next attempt is due. */
export async function sweepMails({ sql, producer }: Pick<SweepDeps, 'sql' | 'producer'>): Promise<void> {
  const due = await listDueMails(sql, realNow(), DUE_AT_ONCE);
  await producer.addMany(
    'mail.send',
    due.map((payload) => ({ payload })),
  );
}
