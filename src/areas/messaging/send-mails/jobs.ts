import { realNow, realNowMs } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { ofOrganization } from '../../../platform/log/log.ts';
import type { Mailer, OutgoingMail, RecipientState } from '../../../platform/mail/mailer.ts';
import type { Metrics } from '../../../platform/metrics/metrics.ts';
import type { SweepDeps } from '../../../platform/periodic-job.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import { announce } from '../../../platform/reactions.ts';
import { type SystemDeps, systemTransaction } from '../../../platform/records/system-transaction.ts';
import { storableText } from '../../../platform/schema/storable.ts';
import { mailFailed } from '../announcements.ts';
import { announceFailure } from '../mails/announce.ts';
import { withPayLinks } from '../mails/pay-link.ts';
import {
  type AttachedFile,
  type Attempt,
  findDueMail,
  keepTaken,
  listAttachedFiles,
  listDueMails,
  noteAttempt,
  noteUnsent,
  type PendingMail,
  takeMail,
} from '../mails/queries.ts';

/**
 * After an attempt that left addresses open the next one waits this long; then they have failed. About a day in all.
 */
const PAUSES_MINUTES = [1, 5, 30, 120, 480, 960];
/** A mail whose process died is taken up again after it. An attempt that takes longer, for many addresses, says so. */
const TAKEN_MINUTES = 5;
const KEPT_EVERY_MS = 60_000;
const DUE_AT_ONCE = 500;

type Deps = SystemDeps & { metrics: Pick<Metrics, 'mails'> };

/**
 * Mails that one process hands over at the same time. A mail server that does not answer keeps each for half a minute,
 * and the other places of the queue belong to webhooks.
 */
const MOST_AT_ONCE = 10;
/** How long one job goes on to the next mail that is due. */
const GOES_ON_MS = 20_000;

/**
 * Handler of `mail.send`: one attempt at a mail, if it is due, then at others that are. Rows are what is owed, so the
 * job itself never fails; what finds no place is sent by one that goes on, or by the sweeper.
 *
 * Rule: mails.md#each-mail-once.
 */
export function mailHandlers(deps: Deps, mailer: Mailer | undefined): Pick<Handlers, 'mail.send'> {
  const { sql, log } = deps;
  let sending = 0;
  return {
    async 'mail.send'({ organization_id: organizationId, mail_id: id }) {
      if (mailer === undefined) {
        log.warn({ organization_id: organizationId, mailId: id }, 'mail not sent: no SMTP_URL');
        for (const { template } of await noteUnsent({ db: sql, organizationId }, id)) count(deps, template, 'unsent');
        return;
      }
      if (sending >= MOST_AT_ONCE) return;
      sending += 1;
      try {
        const until = realNowMs() + GOES_ON_MS;
        let due: { organization_id: OrganizationId; mail_id: string } | undefined = {
          organization_id: organizationId,
          mail_id: id,
        };
        while (due !== undefined) {
          await sendMail(deps, mailer, due);
          due = realNowMs() < until ? await findDueMail(sql, realNow()) : undefined;
        }
      } finally {
        sending -= 1;
      }
    },
  };
}

async function sendMail(
  deps: Deps,
  mailer: Mailer,
  { organization_id: organizationId, mail_id: id }: { organization_id: OrganizationId; mail_id: string },
): Promise<void> {
  const now = realNow();
  const scope = { db: deps.sql, organizationId };
  const mail = await takeMail(scope, id, { now, until: now.add({ minutes: TAKEN_MINUTES }) });
  if (!mail) return;
  const keep = () => keepTaken(scope, mail, realNow().add({ minutes: TAKEN_MINUTES }));
  const timer = setInterval(() => void keep().catch(() => undefined), KEPT_EVERY_MS); // it may be lost once
  const states = await attempt(deps, organizationId, mailer, mail).finally(() => clearInterval(timer));
  await keepAttempt(deps, organizationId, mail, states);
}

/** Mails that have no template are of people, such as a code for an address. */
const count = ({ metrics }: Deps, template: string | null, status: string): void =>
  metrics.mails.inc({ template: template ?? 'none', status });

/** The state of every address; settled addresses are not tried again. */
async function attempt(
  { sql, config, log: logOfAll }: SystemDeps,
  organizationId: OrganizationId,
  mailer: Mailer,
  mail: PendingMail,
): Promise<RecipientState[]> {
  const log = ofOrganization(logOfAll, organizationId);
  const settled = mail.recipient_states.filter(({ state }) => state !== 'deferred');
  const all = [...new Set([...mail.recipients, ...mail.cc, ...mail.bcc])];
  const open = all.filter((address) => !settled.some((each) => each.address === address));
  if (open.length === 0) return settled;
  try {
    const [text, html] = await withPayLinks({ db: sql, config }, [mail.body, mail.html ?? '']);
    const files = await listAttachedFiles({ db: sql, organizationId }, mail.id);
    const outgoing = outgoingOf({ ...mail, body: text!, html: mail.html === null ? null : html! }, files);
    return [...settled, ...(await mailer.send(outgoing, open))];
  } catch (error) {
    log.warn({ mailId: mail.id, attempts: mail.attempts, err: error }, 'the mail server could not be asked');
    const message = error instanceof Error ? error.message : String(error);
    return [...settled, ...open.map((address) => ({ address, state: 'deferred' as const, error: message }))];
  }
}

const outgoingOf = (mail: PendingMail, files: readonly AttachedFile[]): OutgoingMail => ({
  id: mail.id,
  senderName: mail.sender_name,
  from: mail.from_address,
  replyTo: mail.reply_to,
  to: mail.recipients,
  cc: mail.cc,
  bcc: mail.bcc,
  subject: mail.subject,
  text: mail.body,
  html: mail.html,
  attachments: files.map((file) => ({
    fileName: file.file_name,
    contentType: file.content_type,
    content: file.content,
  })),
});

/**
 * Stores the outcome of an attempt. The mail stays pending while addresses are open and attempts are left; then it is
 * sent if any address accepted it. Addresses that will never get it are recorded in the audit trail, at once if the
 * server refused for good.
 */
async function keepAttempt(
  deps: Deps,
  organizationId: OrganizationId,
  mail: PendingMail,
  answered: RecipientState[],
): Promise<void> {
  const pause = PAUSES_MINUTES[mail.attempts - 1];
  const states = answered.map((each) => ({ ...each, error: each.error === null ? null : readable(each.error) }));
  const isOpen = pause !== undefined && states.some(({ state }) => state === 'deferred');
  const failed = states.filter(({ state }) => state === 'refused' || (state === 'deferred' && !isOpen));
  const told = new Set(mail.recipient_states.flatMap(({ address, state }) => (state === 'refused' ? [address] : [])));
  const lost = failed.filter(({ address }) => !told.has(address));
  const isSent = states.some(({ state }) => state === 'accepted');
  const now = realNow();
  const outcome = {
    status: isOpen ? ('pending' as const) : isSent ? ('sent' as const) : ('failed' as const),
    states: states.map((each) => (failed.includes(each) ? { ...each, state: 'refused' as const } : each)),
    error: reasonsOf(states),
    nextAt: isOpen ? now.add({ minutes: pause }) : null,
    sentAt: !isOpen && isSent ? now : null,
  };
  await storeAttempt(deps, organizationId, { mail, outcome, lost });
  if (outcome.status !== 'pending') count(deps, mail.template, outcome.status);
}

async function storeAttempt(
  deps: Deps,
  organizationId: OrganizationId,
  { mail, outcome, lost }: { mail: PendingMail; outcome: Attempt; lost: RecipientState[] },
): Promise<void> {
  if (lost.length === 0) {
    await noteAttempt({ db: deps.sql, organizationId }, mail, outcome);
    return;
  }
  deps.log.warn({ organization_id: organizationId, mailId: mail.id, refused: lost.length }, 'a mail was refused');
  const work = async (ctx: Context) => {
    const noted = await noteAttempt({ db: ctx.db, organizationId }, mail, outcome);
    if (noted.count === 0) return;
    if (outcome.status === 'failed') await announceFailure(ctx, mail.id);
    await announce(ctx, mailFailed, { mail: onlyTo(mail, lost), error: reasonsOf(lost) ?? '' });
  };
  // Only sandboxes may have a test clock, and their mails never come here.
  await systemTransaction(deps, { id: organizationId, sandbox: false }, async () => realNow(), work);
}

/** A mail server says what it likes, for each of many addresses; the log keeps so much of it. */
const REASON_LETTERS = 300;
const REASONS_LETTERS = 1000;

const readable = (reason: string): string => storableText(reason.replaceAll(/\s+/g, ' ').slice(0, REASON_LETTERS));

/** Reasons why addresses have no mail, each once. */
function reasonsOf(states: readonly RecipientState[]): string | null {
  const reasons = new Set(states.flatMap(({ error }) => (error === null ? [] : [error])));
  return reasons.size === 0 ? null : [...reasons].join('; ').slice(0, REASONS_LETTERS).toWellFormed();
}

function onlyTo(mail: PendingMail, states: readonly RecipientState[]): PendingMail {
  const among = (addresses: string[]) => addresses.filter((each) => states.some(({ address }) => address === each));
  return { ...mail, recipients: among(mail.recipients), cc: among(mail.cc), bcc: among(mail.bcc) };
}

/** Enqueues mails whose next attempt is due. */
export async function sweepMails({ sql, producer }: Pick<SweepDeps, 'sql' | 'producer'>): Promise<void> {
  const due = await listDueMails(sql, realNow(), DUE_AT_ONCE);
  await producer.addMany(
    'mail.send',
    due.map((payload) => ({ payload })),
  );
}
