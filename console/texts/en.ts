import { addOns } from './en/add-ons.ts';
import { audit } from './en/audit.ts';
import { clock } from './en/clock.ts';
import { coupons } from './en/coupons.ts';
import { creditNotes } from './en/credit-notes.ts';
import { customers } from './en/customers.ts';
import { events } from './en/events.ts';
import { faults } from './en/faults.ts';
import { features } from './en/features.ts';
import { form } from './en/form.ts';
import { frame } from './en/frame.ts';
import { home } from './en/home.ts';
import { invoices } from './en/invoices.ts';
import { keys } from './en/keys.ts';
import { ledger } from './en/ledger.ts';
import { list } from './en/list.ts';
import { logs } from './en/logs.ts';
import { mails } from './en/mails.ts';
import { metrics } from './en/metrics.ts';
import { operations } from './en/operations.ts';
import { page } from './en/page.ts';
import { parts } from './en/parts.ts';
import { payments } from './en/payments.ts';
import { plans } from './en/plans.ts';
import { quotes } from './en/quotes.ts';
import { search } from './en/search.ts';
import { settings } from './en/settings.ts';
import { subscriptions } from './en/subscriptions.ts';
import { typed } from './en/typed.ts';
import { wallets } from './en/wallets.ts';
import { webhooks } from './en/webhooks.ts';

/** Every text of the console, one file a room. A further language is a second folder of this shape. */
export const t = {
  addOns,
  audit,
  clock,
  coupons,
  creditNotes,
  customers,
  events,
  faults,
  features,
  form,
  frame,
  home,
  invoices,
  keys,
  ledger,
  list,
  logs,
  mails,
  metrics,
  operations,
  page,
  parts,
  payments,
  plans,
  quotes,
  search,
  settings,
  subscriptions,
  typed,
  wallets,
  webhooks,
};
