import type { Context } from '../../../platform/context.ts';
import type { Fragment, Tx } from '../../../platform/db/connect.ts';
import {
  imagineFrom,
  lookFirstIn,
  type PreviewSchemas,
  takePreviewTables,
} from '../../../platform/db/preview-tables.ts';
import type { CustomerId, OrganizationId } from '../../../platform/ids.ts';

/** The customer and subscriptions that a preview is about. */
export interface Imagining {
  organizationId: OrganizationId;
  /** The stored customer; null for one who is made up. */
  customerId: CustomerId | null;
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
  wallet_days: (tx) => tx`false`, // only written: when a wallet is used up is no part of an invoice
  taxes: (tx, { organizationId }) => tx`organization_id = ${organizationId}`, // EU taxes are made when they are needed
  customer_taxes: ofCustomer,
  vies_checks: ofCustomer,
  adjusted_fees: (tx, { organizationId, customerId }) => tx`
    organization_id = ${organizationId} and invoice_id in (
      select id from invoices
      where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'draft')`,
};

/**
 * Gives the rest of the transaction copies of those tables to read and change: no other transaction can wait for them.
 *
 * @throws NoSeat
 */
export async function copyOwnRows({ db }: Context, about: Imagining): Promise<PreviewSchemas> {
  const tx = db as Tx;
  const schemas = await takePreviewTables({ db: tx, organizationId: about.organizationId });
  // They are looked at when all are filled: what selects the rows of one reads another.
  await Promise.all([
    imagineFrom(tx),
    ...Object.entries(COPIED).map(
      ([name, rows]) =>
        tx`insert into ${tx(`${schemas.rows}.${name}`)} select * from ${tx(name)} where ${rows(tx, about)}`,
    ),
    lookFirstIn(tx, schemas.rows),
  ]);
  return schemas;
}
