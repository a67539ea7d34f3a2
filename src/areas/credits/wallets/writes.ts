import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { columnValues, json } from '../../../platform/db/values.ts';
import type { WalletId } from '../../../platform/ids.ts';
import type { WalletRow } from './queries.ts';

/** Fields of a wallet that a request may set. */
export type WalletFields = Pick<
  WalletRow,
  | 'billing_entity_id'
  | 'code'
  | 'name'
  | 'priority'
  | 'allowed_fee_types'
  | 'billable_metric_ids'
  | 'paid_top_up_min_amount_cents'
  | 'paid_top_up_max_amount_cents'
  | 'invoice_requires_successful_payment'
  | 'payment_method_type'
  | 'payment_method_id'
  | 'purchase_order_number'
  | 'metadata'
  | 'expiration_at'
> & { skip_invoice_custom_sections: boolean };

export type NewWallet = WalletFields & Pick<WalletRow, 'id' | 'customer_id' | 'currency' | 'rate_amount'>;

/** Stores a wallet, empty: it has nothing that could be used up yet. */
export const insertWallet = ({ db, organizationId }: Scope, wallet: NewWallet, now: Temporal.Instant) => db`
  insert into wallets (id, organization_id, customer_id, billing_entity_id, code, name, priority, currency, rate_amount,
    status, allowed_fee_types, billable_metric_ids, paid_top_up_min_amount_cents, paid_top_up_max_amount_cents,
    invoice_requires_successful_payment, payment_method_type, payment_method_id, purchase_order_number,
    skip_invoice_custom_sections,
    metadata, expiration_at, depleted_ongoing_balance, created_at, updated_at)
  values (${wallet.id}, ${organizationId}, ${wallet.customer_id}, ${wallet.billing_entity_id}, ${wallet.code},
    ${wallet.name}, ${wallet.priority}, ${wallet.currency}, ${wallet.rate_amount}, 'active',
    ${wallet.allowed_fee_types}::text[], ${wallet.billable_metric_ids}::uuid[], ${wallet.paid_top_up_min_amount_cents},
    ${wallet.paid_top_up_max_amount_cents}, ${wallet.invoice_requires_successful_payment},
    ${wallet.payment_method_type}, ${wallet.payment_method_id}, ${wallet.purchase_order_number},
    ${wallet.skip_invoice_custom_sections},
    ${json(wallet.metadata)}, ${wallet.expiration_at}, true, ${now}, ${now})`;

/** Changes fields of a wallet. */
export const changeWallet = (
  { db, organizationId, now }: Pick<Context, 'db' | 'organizationId' | 'now'>,
  id: WalletId,
  change: Partial<WalletFields>,
) => db`
  update wallets set ${db(columnValues({ ...change, updated_at: now() }))}
  where organization_id = ${organizationId} and id = ${id}`;

/** Ends a wallet; what it holds stays readable. */
export const markTerminated = ({ db, organizationId }: Scope, id: WalletId, now: Temporal.Instant) => db`
  update wallets set status = 'terminated', terminated_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;
