import type { TemplateName } from '../templates.ts';

/** What a seller may say in its own words. Braces are filled in: placeholders of the template. */
export interface MailWords {
  subject: string;
  /** Above what the mail is about; a blank line divides paragraphs. */
  intro: string;
  /** Below it. */
  closing: string;
}

/** Every word of mails in one language that no page or document has. */
export interface MailTexts {
  words: Record<TemplateName, MailWords>;
  /** Subject of an invoice with nothing due. */
  settled: string;
  /** Instead of the first reminder's words: of those between the first and the last, and of the last. */
  firm: Pick<MailWords, 'subject' | 'intro'>;
  final: Pick<MailWords, 'subject' | 'intro'>;
  /** `{days}`, as "12 days". */
  overdueBy: string;
  /** The link to the customer's pages below each mail, and how long it works: `{hours}`. */
  pages: string;
  worksFor: string;
  /** The same link as the purpose of a mail, and a warning: `{hours}`. */
  openPages: string;
  keepLink: string;
  /** What mails about wallets, subscriptions, endpoints and keys name: `{name}` of the subscription. */
  notices: {
    /** How long a balance lasts, within a line: `{days}`, as "4 days". */
    lasts: string;
    trialEnds: string;
    subscriptionEnds: string;
    limit: string;
    endpoint: string;
    reason: string;
    /** Why an endpoint was disabled. */
    reasons: { failing: string; gone: string };
    openWebhooks: string;
    name: string;
    /** The last characters of a key. */
    lastFour: string;
    createdOn: string;
    openKeys: string;
  };
}
