import nodemailer from 'nodemailer';
import type { Config } from '../config.ts';

/** A mail as it leaves the house. */
export interface OutgoingMail {
  /** The same for every attempt, so that a receiver knows a repeated one. */
  id: string;
  senderName: string | null;
  replyTo: string | null;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  subject: string;
  text: string;
  attachment: { fileName: string; contentType: string; content: Uint8Array } | null;
}

export interface Mailer {
  /** Hands a mail to the mail server. @throws when it does not take it */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}

const CONNECT_WITHIN_MS = 10_000;
/** Silence of the server in the middle of a mail. */
const SILENT_MS = 30_000;
const SECURE_PORT = 465;
const SUBMISSION_PORT = 587;

/** The way to the mail server of the setting SMTP_URL; undefined without one: then nothing is sent. */
export function createMailer({ SMTP_URL, MAIL_FROM }: Pick<Config, 'SMTP_URL' | 'MAIL_FROM'>): Mailer | undefined {
  if (SMTP_URL === undefined) return undefined;
  const url = new URL(SMTP_URL);
  const secure = url.protocol === 'smtps:';
  const transport = nodemailer.createTransport({
    host: url.hostname,
    port: url.port === '' ? (secure ? SECURE_PORT : SUBMISSION_PORT) : Number(url.port),
    secure,
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    connectionTimeout: CONNECT_WITHIN_MS,
    greetingTimeout: CONNECT_WITHIN_MS,
    socketTimeout: SILENT_MS,
    // Texts of customers never make the library read a file or an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail) {
      await transport.sendMail({
        messageId: `<${mail.id}@${MAIL_FROM.slice(MAIL_FROM.indexOf('@') + 1)}>`,
        from: { name: mail.senderName ?? '', address: MAIL_FROM },
        ...(mail.replyTo === null ? {} : { replyTo: mail.replyTo }),
        to: mail.to,
        cc: mail.cc,
        bcc: mail.bcc,
        subject: mail.subject,
        text: mail.text,
        attachments:
          mail.attachment === null
            ? []
            : [
                {
                  filename: mail.attachment.fileName,
                  contentType: mail.attachment.contentType,
                  content: Buffer.from(mail.attachment.content),
                },
              ],
      });
    },
    close: () => transport.close(),
  };
}
