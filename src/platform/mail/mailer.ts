import { domainToASCII } from 'node:url';
import nodemailer, { type SendingError } from 'nodemailer';
import type { Config } from '../config.ts';

/** A mail as it is sent. */
export interface OutgoingMail {
  /** The same for every attempt, so that a receiver recognises a repeated one. */
  id: string;
  senderName: string | null;
  /** The sender's own address; null: that of MAIL_FROM, to which failures are reported in any case. */
  from: string | null;
  replyTo: string | null;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  subject: string;
  text: string;
  /** The same words as a page; null: the mail is text alone. */
  html: string | null;
  attachments: readonly { fileName: string; contentType: string; content: Uint8Array }[];
}

/** The mail server's reply about one address: accepted, refused for good, or refused for now. */
export interface RecipientState {
  address: string;
  state: 'accepted' | 'refused' | 'deferred';
  error: string | null;
}

export interface Mailer {
  /**
   * Sends a mail to some of its addresses through the mail server.
   *
   * @returns the result of each address
   * @throws when the server is away or refuses the login
   */
  send(mail: OutgoingMail, addresses: readonly string[]): Promise<RecipientState[]>;
  close(): void;
}

const CONNECT_WITHIN_MS = 10_000;
/** Silence of the server in the middle of a mail. */
const SILENT_MS = 30_000;
const SECURE_PORT = 465;
const SUBMISSION_PORT = 587;

/** The connection to the mail server of SMTP_URL; undefined without that setting, and then nothing is sent. */
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
    // Customers' texts must never make the library read a file or an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail, addresses) {
      const message = {
        envelope: { from: MAIL_FROM, to: addresses },
        // Automatic replies would reach no reader (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated' },
        messageId: `<${mail.id}@${MAIL_FROM.slice(MAIL_FROM.indexOf('@') + 1)}>`,
        from: { name: mail.senderName ?? '', address: mail.from ?? MAIL_FROM },
        ...(mail.replyTo === null ? {} : { replyTo: mail.replyTo }),
        to: mail.to,
        cc: mail.cc,
        bcc: mail.bcc,
        subject: mail.subject,
        text: mail.text,
        ...(mail.html === null ? {} : { html: mail.html, attachDataUrls: true }),
        attachments: mail.attachments.map(({ fileName, contentType, content }) => ({
          filename: fileName,
          contentType,
          content: Buffer.from(content),
        })),
      };
      try {
        const { rejectedErrors = [] } = await transport.sendMail(message);
        return statesOf(addresses, rejectedErrors, ACCEPTED);
      } catch (error) {
        const { code = '', responseCode = 0, message: words, rejectedErrors = [] } = error as SendingError;
        if (!OF_THE_MAIL.has(code)) throw error;
        const rest =
          responseCode >= PERMANENT ? { state: 'refused' as const, error: words } : { ...DEFERRED, error: words };
        return statesOf(addresses, rejectedErrors, rest);
      }
    },
    close: () => transport.close(),
  };
}

/** SMTP replies from this code on are permanent. */
const PERMANENT = 500;
/** Error codes of the library for a server's reply to the mail, its sender, its recipients or its content. */
const OF_THE_MAIL = new Set(['EENVELOPE', 'EMESSAGE']);
const ACCEPTED = { state: 'accepted', error: null } as const;
const DEFERRED = { state: 'deferred' } as const;

/** The state of each address: its own reply if there was one, else that of the rest. */
function statesOf(
  addresses: readonly string[],
  replies: readonly SendingError[],
  rest: Omit<RecipientState, 'address'>,
): RecipientState[] {
  const byAddress = new Map(replies.map((reply) => [plain(reply.recipient ?? ''), reply]));
  return addresses.map((address) => {
    const reply = byAddress.get(plain(address));
    if (reply === undefined) return { address, ...rest };
    const state = (reply.responseCode ?? 0) >= PERMANENT ? 'refused' : 'deferred';
    return { address, state, error: reply.message };
  });
}

/** An address in the form that the library passes on: its domain in lower-case ASCII. */
function plain(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at + 1)}${domainToASCII(address.slice(at + 1))}`;
}
