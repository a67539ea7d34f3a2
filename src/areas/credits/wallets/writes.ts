import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { columnValues, json } from '../../../platform/db/values.ts';
import type { CustomerId, MetricId, WalletId } from '../../../platform/ids.ts';
import type { WalletRow } from './queries.ts';

/** Metrics by their codes, in the order of the codes. */
export const findBillableMetrics = ({ db, organizationId }: Context, codes: readonly string[]) => db<
  { id: MetricId; code: string }[]
>`
  select id, code from billable_metrics
  where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null
  order by array_position(${codes}::text[], code)`;

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

/** The credits left in a wallet: granted part and purchased part. */
export async function readRest(
  { db, organizationId }: Scope,
  walletId: WalletId,
): Promise<{ granted: number; purchased: number }> {
  const [row] = await db<{ granted: number; purchased: number }[]>`
    select coalesce(sum(remaining_amount_cents - remaining_purchased_cents), 0)::bigint as granted,
      coalesce(sum(remaining_purchased_cents), 0)::bigint as purchased
    from wallet_transactions
    where organization_id = ${organizationId} and wallet_id = ${walletId} and transaction_type = 'inbound'
      and status = 'settled'`;
  return row!;
}

/** Active wallets of a customer. */
export const listActiveIds = ({ db, organizationId }: Scope, customerId: CustomerId) => db<{ id: WalletId }[]>`
  select id from wallets
  where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'active'
  order by id`;

/** Whether an interval rule has topped the wallet up for a day. */
export async function wasToppedUp(
  { db, organizationId }: Scope,
  walletId: WalletId,
  day: Temporal.PlainDate,
): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from wallet_transactions
      where organization_id = ${organizationId} and wallet_id = ${walletId} and top_up_on = ${day}) as found`;
  return row!.found;
}
