import type { PortalTexts } from './portal-texts.ts';

export const en: PortalTexts = {
  title: 'Billing',
  balance: 'Balance',
  due: 'Due',
  overdue: 'Overdue',
  subscriptions: 'Subscriptions',
  states: {
    active: 'Active',
    pending: 'Starts later',
    incomplete: 'Waiting for payment',
    terminated: 'Ended',
  },
  nextBilling: 'Next billing on {date}',
  startsOn: 'Starts on {date}',
  endsOn: 'Ends on {date}',
  endedOn: 'Ended on {date}',
  usage: 'Current usage',
  usageUnknown: 'Usage cannot be shown at the moment.',
  credits: '{credits} credits',
  afterUsage: '{amount} after current usage',
  expiresOn: 'Expires on {date}',
  invoices: 'Invoices',
  receipts: 'Payment receipts',
  payment: {
    paid: 'Paid',
    settled: 'Settled',
    underWay: 'Payment under way',
    partlyPaid: 'Partly paid',
    overdue: 'Overdue',
    failed: 'Payment failed',
    open: 'Open',
  },
  pay: 'Pay',
  download: 'Download PDF',
  left: '{amount} left',
  nothing: 'Nothing here yet.',
  newer: 'Newer',
  older: 'Older',
  back: 'Back to the overview',
  notices: {
    preparing: {
      title: 'Your document is being prepared',
      text: 'This page loads it by itself in a few seconds.',
    },
    unauthorized: {
      title: 'This link is not valid any more',
      text: 'Please ask your provider for a new link.',
    },
    notFound: {
      title: 'There is no such page',
      text: 'What you are looking for is not here.',
    },
    tooMany: {
      title: 'Too many requests',
      text: 'Please wait a moment and load the page again.',
    },
    failed: {
      title: 'Something went wrong',
      text: 'Please try again in a few minutes.',
    },
  },
};
