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
    wallet_low: {
      subject: '{seller}: {amount} left in {wallet}',
      intro: 'Your prepaid balance is running low.',
      closing: '',
    },
    top_up_failed: {
      subject: '{seller}: top-up of {amount} failed',
      intro:
        'Your top-up could not be charged, and no credits were added. Please check your payment method, or pay in another way.',
      closing: '',
    },
    trial_ending: {
      subject: 'Your trial at {seller} ends on {due_date}',
      intro: 'Your trial is about to end. After that it goes on as a paid subscription, and you need not do anything.',
      closing: 'If you do not want to go on, please get in touch with us before then.',
    },
    subscription_ending: {
      subject: 'Your subscription at {seller} ends on {due_date}',
      intro: 'Your subscription is about to end. Until then nothing changes.',
      closing: 'If you want to go on, please get in touch with us.',
    },
    usage_alert: {
      subject: '{seller}: usage of {subscription} has reached {limit}',
      intro: 'Your usage has reached a limit of which you wanted to be told.',
      closing: '',
    },
    endpoint_disabled: {
      subject: 'A webhook endpoint of {seller} was disabled',
      intro: 'Nothing is sent to this endpoint any more. New events are not stored for it until it is enabled again.',
      closing: '',
    },
    key_created: {
      subject: 'A new API key of {seller}',
      intro: 'An API key was created. Whoever has it can do what its permissions allow.',
      closing: 'If you do not know of it, please delete the key.',
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
  notices: {
    lasts: 'lasts about {days}',
    trialEnds: 'End of your trial of {name}',
    subscriptionEnds: 'End of your subscription {name}',
    limit: 'Limit',
    endpoint: 'Endpoint',
    reason: 'Reason',
    reasons: { failing: 'All deliveries have failed for five days', gone: 'It answered that it is gone (410)' },
    openWebhooks: 'Open the webhooks',
    name: 'Name',
    lastFour: 'Ends in',
    createdOn: 'Created on',
    openKeys: 'Open the API keys',
  },
};
