import type { Temporal } from 'temporal-polyfill';
import { TARGET_WALLET_KEY } from '../../../engine/metrics/group-values.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, MetricId, SubscriptionId, WalletId } from '../../../platform/ids.ts';

export const listActiveSubscriptions = ({ db, organizationId }: Scope, customerId: CustomerId) => db<
  { id: SubscriptionId }[]
>`
  select id from subscriptions
  where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'active'
  order by id`;

/** Fees of one kind, with tax, less coupons. */
export interface OwnedFee {
  currency: string;
  fee_type: string;
  billable_metric_id: MetricId | null;
  target_wallet_code: string | null;
  amount: Decimal;
}

const pooled = (db: Db) => db`
  fee.amount_currency as currency, fee.fee_type, charge.billable_metric_id,
  fee.grouped_by ->> ${TARGET_WALLET_KEY} as target_wallet_code,
  sum(fee.amount_cents - fee.precise_coupons_amount_cents + fee.taxes_amount_cents) as amount`;

/** Fees on a customer's drafts. */
export const listDraftFees = ({ db, organizationId }: Scope, customerId: CustomerId) => db<OwnedFee[]>`
  select ${pooled(db)}
  from invoices invoice
  join fees fee on fee.organization_id = invoice.organization_id and fee.invoice_id = invoice.id
    and fee.deleted_at is null
  left join charges charge on charge.organization_id = fee.organization_id and charge.id = fee.charge_id
  where invoice.organization_id = ${organizationId} and invoice.customer_id = ${customerId}
    and invoice.status = 'draft' and invoice.total_amount_cents <> 0
  group by 1, 2, 3, 4`;

/** Fees of progressive invoices of periods in progress. */
export const listProgressiveFees = ({ db, organizationId }: Scope, customerId: CustomerId, now: Temporal.Instant) => db<
  OwnedFee[]
>`
  select ${pooled(db)}
  from invoices invoice
  join fees fee on fee.organization_id = invoice.organization_id and fee.invoice_id = invoice.id
    and fee.deleted_at is null
  left join charges charge on charge.organization_id = fee.organization_id and charge.id = fee.charge_id
  where invoice.organization_id = ${organizationId} and invoice.customer_id = ${customerId}
    and invoice.invoice_type = 'progressive_billing' and invoice.status in ('finalized', 'failed')
    and exists (select from invoice_subscriptions line
      join subscriptions s on s.organization_id = line.organization_id and s.id = line.subscription_id
      where line.organization_id = invoice.organization_id and line.invoice_id = invoice.id and s.status = 'active'
        and line.charges_from_datetime <= ${now} and line.charges_to_datetime > ${now})
  group by 1, 2, 3, 4`;

/** Pending credits of a wallet, and when its last automatic purchase failed and its last one succeeded. */
export interface Purchases {
  pending_credits: Decimal;
  failed_at: Temporal.Instant | null;
  settled_at: Temporal.Instant | null;
}

export async function readPurchases({ db, organizationId }: Scope, walletId: WalletId): Promise<Purchases> {
  const [row] = await db<Purchases[]>`
    select coalesce(sum(credit_amount) filter (where status = 'pending'), 0) as pending_credits,
      max(failed_at) filter (where status = 'failed' and source <> 'manual') as failed_at,
      max(settled_at) filter (where status = 'settled') as settled_at
    from wallet_transactions
    where organization_id = ${organizationId} and wallet_id = ${walletId} and transaction_status = 'purchased'`;
  return row!;
}

/** Automatic purchases of a wallet since an instant. */
export async function countAutomatic(
  { db, organizationId }: Scope,
  walletId: WalletId,
  since: Temporal.Instant,
): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) from wallet_transactions
    where organization_id = ${organizationId} and wallet_id = ${walletId} and transaction_status = 'purchased'
      and source = 'threshold' and created_at > ${since}`;
  return row!.count;
}

export const storeOngoing = (
  { db, organizationId }: Scope,
  ongoing: {
    id: string;
    usageCents: number;
    usageCredits: Decimal;
    balanceCents: number;
    balanceCredits: Decimal;
    isDepleted: boolean;
  },
  now: Temporal.Instant,
) => db`
  update wallets set ongoing_usage_balance_cents = ${ongoing.usageCents},
    credits_ongoing_usage_balance = ${ongoing.usageCredits}, ongoing_balance_cents = ${ongoing.balanceCents},
    credits_ongoing_balance = ${ongoing.balanceCredits}, depleted_ongoing_balance = ${ongoing.isDepleted},
    updated_at = ${now}
  where organization_id = ${organizationId} and id = ${ongoing.id}`;
