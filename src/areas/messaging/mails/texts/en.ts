import type { MailTexts } from './mail-texts.ts';

export const en: MailTexts = {
  words: {
    invoice: {
      subject: 'Invoice {number} from {seller}: {amount} due {due_date}',
      intro: 'Your invoice {number} is attached as a PDF.',
      closing: '',
    },
    credit_note: {
      subject: 'Credit note {number} from {seller}: {amount}',
      intro: 'Your credit note {number} is attached as a PDF.',
      closing: '',
    },
    payment_receipt: {
      subject: 'Payment receipt {number} from {seller}: {amount}',
      intro: 'Thank you for your payment. Receipt {number} is attached as a PDF.',
      closing: '',
    },
    invoice_overdue: {
      subject: 'Reminder: {amount} to {seller} is overdue',
      intro: 'It may have escaped you: these invoices are still open.',
      closing: 'If you have paid in the meantime, please disregard this message.',
    },
    payment_request: {
      subject: '{seller}: please pay {amount}',
      intro: 'These invoices from {seller} are overdue:',
      closing: '',
    },
    payment_action: {
      subject: '{seller}: Please confirm your payment',
      intro: 'This payment is waiting for you.',
      closing: '',
    },
    payment_failed: {
      subject: '{seller}: payment of {amount} failed',
      intro: 'Invoice {number} could not be charged. You can pay it in another way.',
      closing: '',
    },
    portal_link: {
      subject: 'Your link to your pages at {seller}',
      intro: 'Here is the new link to your invoices, usage and payment methods.',
      closing: 'If you did not ask for it, you need not do anything.',
    },
    details_changed: {
      subject: 'Your billing details at {seller} were changed',
      intro: 'The email address for your invoices was changed on your pages. Invoices no longer come to this address.',
      closing: 'If that was not you, please reply to this mail.',
    },
  },
  settled: 'Invoice {number} from {seller}',
  firm: {
    subject: 'Still overdue: {amount} to {seller}',
    intro: 'Despite our reminder, these invoices are still open. Please pay them now.',
  },
  final: {
    subject: 'Last reminder: {amount} to {seller} is overdue',
    intro: 'This is the last reminder of these overdue invoices. Please pay without delay, or get in touch with us.',
  },
  overdueBy: '{days} overdue',
  pages: 'See your invoices and usage',
  worksFor: 'The link works for {hours} hours.',
  openPages: 'Open my pages',
  keepLink: 'The link works for {hours} hours. Whoever has it can open your pages, so please do not pass it on.',
};
