import type { PaymentState } from '../payment-state.ts';

/** Every word of the portal page that no document prints, in one language. Braces are filled in. */
export interface PortalTexts {
  title: string;
  balance: string;
  due: string;
  overdue: string;
  subscriptions: string;
  states: { active: string; pending: string; incomplete: string; terminated: string };
  /** `{date}`, as the next three. */
  nextBilling: string;
  startsOn: string;
  endsOn: string;
  endedOn: string;
  usage: string;
  usageUnknown: string;
  /** `{credits}`. */
  credits: string;
  /** `{amount}`. */
  afterUsage: string;
  /** `{date}`. */
  expiresOn: string;
  invoices: string;
  receipts: string;
  payment: Record<PaymentState, string>;
  pay: string;
  download: string;
  /** `{amount}`. */
  left: string;
  nothing: string;
  newer: string;
  older: string;
  back: string;
  notices: Record<'preparing' | 'unauthorized' | 'notFound' | 'tooMany' | 'failed', { title: string; text: string }>;
}
