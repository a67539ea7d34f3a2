import type { ComponentType } from 'preact';
import { t } from '../texts/en.ts';
import { can, organization, session } from './session.ts';

export interface Room {
  name: string;
  text: string;
  /** `g` and this letter lead to it. */
  letter?: string;
  group: 'work' | 'sell' | 'build' | 'run';
  /** Resource that a key has to read; none for every key. */
  needs?: string;
  /** Only of organizations with this. */
  isThere?: () => boolean;
  /**
   * Lists of the room by the words that stand for one in paths of the API, such as `transactions` of the ledger. Only
   * where no id of a record can be such a word.
   */
  lists?: Record<string, string>;
  load: () => Promise<{ default: ComponentType }>;
}

/** The rooms in the order of the menu. */
export const ROOMS: readonly Room[] = [
  {
    name: 'home',
    text: t.frame.home,
    letter: 'h',
    group: 'work',
    isThere: () => organization.value !== undefined,
    load: () => import('../rooms/home/home.tsx'),
  },
  {
    name: 'customers',
    text: t.frame.customers,
    letter: 'c',
    group: 'work',
    needs: 'customer',
    load: () => import('../rooms/customers/customers.tsx'),
  },
  {
    name: 'subscriptions',
    text: t.frame.subscriptions,
    letter: 's',
    group: 'work',
    needs: 'subscription',
    load: () => import('../rooms/subscriptions/subscriptions.tsx'),
  },
  {
    name: 'invoices',
    text: t.frame.invoices,
    letter: 'i',
    group: 'work',
    needs: 'invoice',
    load: () => import('../rooms/invoices/invoices.tsx'),
  },
  {
    name: 'credit-notes',
    text: t.frame.creditNotes,
    letter: 'n',
    group: 'work',
    needs: 'credit_note',
    load: () => import('../rooms/credit-notes/credit-notes.tsx'),
  },
  {
    name: 'payments',
    text: t.frame.payments,
    letter: 'y',
    group: 'work',
    needs: 'payment',
    lists: { requests: 'requests', campaigns: 'campaigns', inbound: 'inbound' },
    load: () => import('../rooms/payments/payments.tsx'),
  },
  {
    name: 'wallets',
    text: t.frame.wallets,
    letter: 'a',
    group: 'work',
    needs: 'wallet',
    load: () => import('../rooms/wallets/wallets.tsx'),
  },
  {
    name: 'quotes',
    text: t.frame.quotes,
    letter: 'q',
    group: 'work',
    needs: 'quote',
    lists: { forms: 'forms', orders: 'orders' },
    load: () => import('../rooms/quotes/quotes.tsx'),
  },
  {
    name: 'plans',
    text: t.frame.plans,
    letter: 'p',
    group: 'sell',
    needs: 'plan',
    load: () => import('../rooms/plans/plans.tsx'),
  },
  {
    name: 'metrics',
    text: t.frame.metrics,
    letter: 'm',
    group: 'sell',
    needs: 'billable_metric',
    load: () => import('../rooms/metrics/metrics.tsx'),
  },
  {
    name: 'add-ons',
    text: t.frame.addOns,
    letter: 'x',
    group: 'sell',
    needs: 'add_on',
    load: () => import('../rooms/add-ons/add-ons.tsx'),
  },
  {
    name: 'features',
    text: t.frame.features,
    letter: 'f',
    group: 'sell',
    needs: 'feature',
    load: () => import('../rooms/features/features.tsx'),
  },
  {
    name: 'coupons',
    text: t.frame.coupons,
    letter: 'u',
    group: 'sell',
    needs: 'coupon',
    load: () => import('../rooms/coupons/coupons.tsx'),
  },
  {
    name: 'events',
    text: t.frame.events,
    letter: 'e',
    group: 'build',
    needs: 'event',
    load: () => import('../rooms/events/events.tsx'),
  },
  {
    name: 'webhooks',
    text: t.frame.webhooks,
    letter: 'w',
    group: 'build',
    needs: 'webhook_endpoint',
    load: () => import('../rooms/webhooks/webhooks.tsx'),
  },
  {
    name: 'logs',
    text: t.frame.logs,
    letter: 'l',
    group: 'build',
    needs: 'activity_log',
    load: () => import('../rooms/logs/logs.tsx'),
  },
  {
    name: 'mails',
    text: t.frame.mails,
    letter: 'd',
    group: 'build',
    needs: 'mail',
    load: () => import('../rooms/mails/mails.tsx'),
  },
  {
    name: 'keys',
    text: t.frame.keys,
    letter: 'k',
    group: 'build',
    needs: 'api_key',
    load: () => import('../rooms/keys/keys.tsx'),
  },
  {
    name: 'audit',
    text: t.frame.audit,
    letter: 'b',
    group: 'run',
    needs: 'audit',
    lists: { findings: '', runs: 'runs' },
    load: () => import('../rooms/audit/audit.tsx'),
  },
  {
    name: 'ledger',
    text: t.frame.ledger,
    letter: 'j',
    group: 'run',
    needs: 'ledger',
    lists: { transactions: 'entries', entries: 'entries', accounts: 'accounts', trial_balance: '' },
    load: () => import('../rooms/ledger/ledger.tsx'),
  },
  {
    name: 'settings',
    text: t.frame.settings,
    letter: ',',
    group: 'run',
    needs: 'organization',
    load: () => import('../rooms/settings/settings.tsx'),
  },
  {
    name: 'clock',
    text: t.frame.testClock,
    letter: 't',
    group: 'run',
    needs: 'test_clock',
    isThere: () => organization.value?.sandbox === true,
    load: () => import('../rooms/clock/clock.tsx'),
  },
  {
    name: 'operations',
    text: t.frame.operations,
    letter: 'o',
    group: 'run',
    isThere: () => session.value?.operator === true,
    load: () => import('../rooms/operations/operations.tsx'),
  },
];

/** Whether the identity may open a room: what it cannot read is not in the menu. */
export const mayOpen = ({ needs, isThere }: Room): boolean =>
  (needs === undefined || can(needs)) && (isThere === undefined || isThere());
