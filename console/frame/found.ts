import { type Filters, to } from './route.ts';

/** A record as the search of the API names it. */
export interface Found {
  type: string;
  svc_id: string;
  title: string;
  subtitle: string;
  match: 'exact' | 'prefix' | 'word' | 'substring';
  /** Its path in the API, which ends with its key, percent-encoded. */
  path: string;
}

/** Rooms in which records of a type stand, under the key that ends their path. */
const ROOM_OF: Record<string, string> = {
  customer: 'customers',
  subscription: 'subscriptions',
  invoice: 'invoices',
  credit_note: 'credit-notes',
  payment: 'payments',
  wallet: 'wallets',
  coupon: 'coupons',
  feature: 'features',
  plan: 'plans',
  billable_metric: 'metrics',
  event: 'events',
  add_on: 'add-ons',
  quote: 'quotes',
};

/** Types without pages of their own: the list that shows them. */
const LIST_OF: Record<string, [room: string, id?: string, filters?: Filters]> = {
  api_log: ['logs', undefined, { show: 'api' }],
  tax: ['settings', 'taxes'],
  order_form: ['quotes', undefined, { show: 'forms' }],
  order: ['quotes', undefined, { show: 'orders' }],
};

/** Where the console shows a record that was found; undefined where it has no page for it yet. */
export function addressOf({ type, path }: Pick<Found, 'type' | 'path'>): string | undefined {
  const key = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  if (type === 'payment_request') return to('payments', key, 'request');
  const room = ROOM_OF[type];
  if (room !== undefined) return to(room, key);
  const list = LIST_OF[type];
  return list && to(list[0], list[1], undefined, list[2]);
}
