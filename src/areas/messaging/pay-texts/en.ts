import type { PayTexts } from './pay-texts.ts';

export const en: PayTexts = {
  payAmount: 'Pay {amount}',
  payHereUntil: 'Pay this invoice here (the link works until {date})',
  more: 'and {count} more',
  paid: { title: 'Paid, thank you', text: 'Your payment has arrived.' },
  processing: {
    title: 'Your payment is under way',
    text: 'There is nothing more to do. It is confirmed as soon as it has arrived.',
  },
  expectedOn: 'Payment expected on {date}',
  confirm: {
    title: 'Please confirm your payment',
    text: 'Your bank asks you to confirm it.',
    button: 'Confirm the payment',
  },
  voided: { title: 'This invoice was cancelled', text: 'There is nothing to pay.' },
  nothingDue: { title: 'Nothing to pay', text: 'No amount is due any more.' },
  transfer: {
    title: 'Pay by bank transfer',
    text: 'Please transfer the amount to this account and quote the reference.',
    holder: 'Account holder',
  },
  ask: 'Please ask {issuer} how to pay.',
  opening: {
    title: 'One moment, please',
    text: 'You are being taken to the payment page.',
    link: 'Continue to the payment page',
  },
  tryAgain: {
    title: 'The payment page cannot be opened at the moment',
    text: 'Nothing was charged. Please try again in a minute.',
    button: 'Try again',
  },
  expired: { title: 'This link has expired', text: 'Please ask the sender of the invoice for a new one.' },
  mail: {
    refused: 'Your payment method could not be charged.',
    payHere: 'Pay here (the link works for {days} days):',
    onPage: 'The invoices can be opened on that page.',
    view: 'View the invoices',
    worksFor: 'The link works for {days} days.',
  },
};
