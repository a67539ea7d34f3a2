import { VISIBLE_INVOICE_STATUSES } from '../../../engine/invoices/invoice-states.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { SearchType } from './schema.ts';

/** How records of a type are found and shown. Fragments speak of the row `r`. */
export interface Searched {
  type: SearchType;
  /** The permission without whose reading the type is absent. */
  permission: string;
  table: string;
  /** Which rows count: live ones, and those that the API shows. */
  live: (db: Db) => Fragment;
  title: (db: Db) => Fragment;
  subtitle: (db: Db) => Fragment;
  /** What of the row its path ends with, and what stands before. */
  path: { prefix: string; key: 'id' | 'code' | 'external_id' };
  /** The text that people know it by. */
  known?: 'external_id' | 'code' | 'number';
  /** Whether the beginning of that text is enough: it has an index in the order of bytes. */
  byPrefix?: true;
}

const always = (db: Db) => db`true`;
const notDeleted = (db: Db) => db`r.deleted_at is null`;
const name = (db: Db) => db`coalesce(nullif(r.name, ''), r.code)`;
const code = (db: Db) => db`r.code`;
const number = (db: Db) => db`r.number`;
const customer = (db: Db) => db`coalesce((
  select coalesce(nullif(customer.name, ''), customer.external_id) from customers customer
  where customer.organization_id = r.organization_id and customer.id = r.customer_id), '')`;

const ofCatalog = (type: SearchType, table: string): Searched => ({
  type,
  permission: type,
  table,
  live: notDeleted,
  title: name,
  subtitle: code,
  path: { prefix: `/${table}/`, key: 'code' },
  known: 'code',
});

const withNumber = (type: SearchType, table: string, live: Searched['live'] = always): Searched => ({
  type,
  permission: type,
  table,
  live,
  title: number,
  subtitle: customer,
  path: { prefix: `/${table}/`, key: 'id' },
  known: 'number',
  byPrefix: true,
});

/** Types whose records are rows with an id; events and the API log are found in their own ways. */
export const SEARCHED: readonly Searched[] = [
  {
    type: 'customer',
    permission: 'customer',
    table: 'customers',
    live: notDeleted,
    title: (db) => db`coalesce(nullif(r.name, ''), nullif(trim(concat_ws(' ', r.firstname, r.lastname)), ''),
      nullif(r.legal_name, ''), r.external_id)`,
    subtitle: (db) => db`concat_ws(' · ', r.external_id, nullif(r.email, ''))`,
    path: { prefix: '/customers/', key: 'external_id' },
    known: 'external_id',
    byPrefix: true,
  },
  {
    type: 'subscription',
    permission: 'subscription',
    table: 'subscriptions',
    live: always,
    title: (db) => db`coalesce(nullif(r.name, ''), r.external_id)`,
    subtitle: (db) => db`concat_ws(' · ', r.external_id, ${customer(db)}, r.status)`,
    path: { prefix: '/subscriptions/', key: 'external_id' },
    known: 'external_id',
    byPrefix: true,
  },
  withNumber('invoice', 'invoices', (db) => db`r.status = any (${VISIBLE_INVOICE_STATUSES}) and r.number is not null`),
  withNumber('credit_note', 'credit_notes', (db) => db`r.status = 'finalized'`),
  {
    type: 'payment',
    permission: 'payment',
    table: 'payments',
    live: (db) => db`(r.payable_type <> 'Invoice' or exists (
      select from invoices invoice where invoice.organization_id = r.organization_id
        and invoice.id = r.payable_id and invoice.status = any (${VISIBLE_INVOICE_STATUSES})))`,
    title: (db) => db`coalesce(nullif(r.reference, ''), r.payment_type)`,
    subtitle: (db) => db`concat_ws(' · ', ${customer(db)}, r.payment_status)`,
    path: { prefix: '/payments/', key: 'id' },
  },
  {
    type: 'payment_request',
    permission: 'payment_request',
    table: 'payment_requests',
    live: always,
    title: customer,
    subtitle: (db) => db`r.payment_status`,
    path: { prefix: '/payment_requests/', key: 'id' },
  },
  withNumber('payment_receipt', 'payment_receipts'),
  {
    type: 'wallet',
    permission: 'wallet',
    table: 'wallets',
    live: always,
    title: name,
    subtitle: customer,
    path: { prefix: '/wallets/', key: 'id' },
  },
  { ...ofCatalog('plan', 'plans'), live: (db) => db`r.deleted_at is null and r.parent_id is null` },
  ofCatalog('billable_metric', 'billable_metrics'),
  ofCatalog('coupon', 'coupons'),
  ofCatalog('add_on', 'add_ons'),
  ofCatalog('feature', 'features'),
  ofCatalog('tax', 'taxes'),
  {
    type: 'webhook',
    permission: 'webhook_endpoint',
    table: 'webhook_deliveries',
    live: always,
    title: (db) => db`coalesce((
      select event.webhook_type from webhook_events event
      where event.organization_id = r.organization_id and event.id = r.event_id), '')`,
    subtitle: (db) => db`concat_ws(' · ', r.endpoint, r.status)`,
    path: { prefix: '/webhooks/', key: 'id' },
  },
  withNumber('quote', 'quotes'),
  withNumber('order_form', 'order_forms'),
  withNumber('order', 'orders'),
];
