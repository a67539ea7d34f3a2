import type { Context } from '../../../platform/context.ts';
import type { Fragment, Tx } from '../../../platform/db/connect.ts';

/** The customer and subscriptions that a preview is about. */
export interface Imagining {
  organizationId: string;
  /** The stored customer; null for one who is made up. */
  customerId: string | null;
  /** Coupons that the story may make up, or give to the customer. */
  couponCodes: readonly string[];
}

type Rows = (tx: Tx, about: Imagining) => Fragment;

const ofCustomer: Rows = (tx, { organizationId, customerId }) =>
  tx`organization_id = ${organizationId} and customer_id = ${customerId}`;

/**
 * Tables in which a preview changes existing rows or claims unique keys, with the rows that it may read: those of one
 * customer, and none whose number grows with usage. Wallets pay from inbound transactions.
 */
const COPIED: Readonly<Record<string, Rows>> = {
  organizations: (tx, { organizationId }) => tx`id = ${organizationId}`,
  customer_numbers: (tx) => tx`false`, // free numbers are made when there is none
  customers: (tx, { organizationId, customerId }) => tx`organization_id = ${organizationId} and id = ${customerId}`,
  subscriptions: ofCustomer,
  invoice_subscriptions: (tx, { organizationId, customerId }) => tx`
    organization_id = ${organizationId} and subscription_id in (
      select id from subscriptions where organization_id = ${organizationId} and customer_id = ${customerId})`,
  coupons: (tx, { organizationId, customerId, couponCodes }) => tx`
    organization_id = ${organizationId} and (code = any (${couponCodes})
      or id in (select coupon_id from applied_coupons
        where organization_id = ${organizationId} and customer_id = ${customerId}))`,
  applied_coupons: ofCustomer,
  credit_notes: ofCustomer,
  wallets: ofCustomer,
  wallet_transactions: (tx, { organizationId, customerId }) => tx`
    organization_id = ${organizationId} and transaction_type = 'inbound' and wallet_id in (
      select id from wallets where organization_id = ${organizationId} and customer_id = ${customerId})`,
};

/**
 * Gives the rest of the transaction temporary copies of those tables to read and change. Postgres looks up their names
 * before those of stored tables; no other transaction can wait for them.
 */
export async function copyOwnRows({ db }: Context, about: Imagining): Promise<void> {
  const tx = db as Tx;
  const tables = Object.entries(COPIED);
  // Filled under other names first, because selecting the rows of one table reads another.
  const copies = tables.map(([name]) => `create temp table copied_${name} (like ${name} including all) on commit drop`);
  await tx.unsafe(copies.join(';'));
  await Promise.all(
    tables.map(
      ([name, rows]) => tx`insert into ${tx(`copied_${name}`)} select * from ${tx(name)} where ${rows(tx, about)}`,
    ),
  );
  await tx.unsafe(tables.map(([name]) => `alter table copied_${name} rename to ${name}`).join(';'));
}
