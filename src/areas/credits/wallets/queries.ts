import type { Temporal } from 'temporal-polyfill';
import type { Cents } from '../../../engine/money/cents.ts';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  BillingEntityId,
  CustomerId,
  ExternalCustomerId,
  MetricId,
  PaymentMethodId,
  WalletId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { type SelectedSectionJson, selectedSections } from '../../customers/invoice-custom-sections/queries.ts';

/** A wallet with what its answer needs of its customer and its billing entity. */
export interface WalletRow {
  id: WalletId;
  customer_id: CustomerId;
  external_customer_id: ExternalCustomerId;
  /** Zone of the customer. */
  zone: string;
  billing_entity_id: BillingEntityId;
  billing_entity_code: string;
  code: string;
  name: string | null;
  priority: number;
  currency: Currency;
  rate_amount: Decimal;
  status: 'active' | 'terminated';
  credits_balance: Decimal;
  balance_cents: Cents;
  consumed_credits: Decimal;
  consumed_amount_cents: Cents;
  credits_ongoing_balance: Decimal;
  ongoing_balance_cents: Cents;
  credits_ongoing_usage_balance: Decimal;
  ongoing_usage_balance_cents: Cents;
  depleted_ongoing_balance: boolean;
  allowed_fee_types: string[];
  billable_metric_ids: MetricId[];
  billable_metric_codes: string[];
  paid_top_up_min_amount_cents: Cents | null;
  paid_top_up_max_amount_cents: Cents | null;
  invoice_requires_successful_payment: boolean;
  payment_method_type: 'provider' | 'manual' | null;
  payment_method_id: PaymentMethodId | null;
  purchase_order_number: string | null;
  skip_invoice_custom_sections: boolean;
  /** Custom sections of its own, in the order in which they were selected. */
  custom_sections: SelectedSectionJson[];
  metadata: Record<string, string | null> | null;
  expiration_at: Temporal.Instant | null;
  last_balance_sync_at: Temporal.Instant | null;
  last_consumed_credit_at: Temporal.Instant | null;
  terminated_at: Temporal.Instant | null;
  /** When it is used up if it goes on like this; null: unknown, or never. */
  exhausted_on: Temporal.PlainDate | null;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  wallet.id, wallet.customer_id, customer.external_id as external_customer_id,
  coalesce(customer.timezone, home.timezone) as zone, wallet.billing_entity_id, entity.code as billing_entity_code,
  wallet.code, wallet.name, wallet.priority, wallet.currency, wallet.rate_amount, wallet.status, wallet.credits_balance,
  wallet.balance_cents, wallet.consumed_credits, wallet.consumed_amount_cents, wallet.credits_ongoing_balance,
  wallet.ongoing_balance_cents, wallet.credits_ongoing_usage_balance, wallet.ongoing_usage_balance_cents,
  wallet.depleted_ongoing_balance, wallet.allowed_fee_types, wallet.billable_metric_ids,
  array(select metric.code from unnest(wallet.billable_metric_ids) with ordinality limit_to (id, place)
    join billable_metrics metric on metric.organization_id = wallet.organization_id and metric.id = limit_to.id
    order by limit_to.place) as billable_metric_codes,
  wallet.paid_top_up_min_amount_cents, wallet.paid_top_up_max_amount_cents, wallet.invoice_requires_successful_payment,
  wallet.payment_method_type, wallet.payment_method_id, wallet.purchase_order_number, wallet.metadata,
  wallet.skip_invoice_custom_sections,
  ${selectedSections(db, 'wallet', { organizationId: db`wallet.organization_id`, ownerId: db`wallet.id` })} as custom_sections,
  wallet.expiration_at, wallet.last_balance_sync_at, wallet.last_consumed_credit_at, wallet.terminated_at,
  wallet.exhausted_on, wallet.created_at`;

const tables = (db: Db) => db`
  wallets wallet
  join customers customer on customer.organization_id = wallet.organization_id and customer.id = wallet.customer_id
  join billing_entities home on home.organization_id = wallet.organization_id and home.id = customer.billing_entity_id
  join billing_entities entity on entity.organization_id = wallet.organization_id
    and entity.id = wallet.billing_entity_id`;

/** A wallet by its id, or by its code at a customer; of several with one code the active one, else the newest. */
export type WalletKey = { id: string } | { customerId: CustomerId; code: string };

/** The wallet of a code at a customer. @throws Refusal 404 customer */
export async function keyOf(
  ctx: Scope,
  { external_customer_id, code }: { external_customer_id: ExternalCustomerId; code: string },
): Promise<WalletKey> {
  return { customerId: (await getCustomer(ctx, external_customer_id)).id, code };
}

export async function findWallet({ db, organizationId }: Scope, key: WalletKey): Promise<WalletRow | undefined> {
  if ('id' in key && !isUuid(key.id)) return undefined;
  const [row] = await db<WalletRow[]>`
    select ${columns(db)} from ${tables(db)}
    where wallet.organization_id = ${organizationId} and ${
      'id' in key ? db`wallet.id = ${key.id}` : db`wallet.customer_id = ${key.customerId} and wallet.code = ${key.code}`
    }
    order by wallet.status, wallet.created_at desc, wallet.id desc
    limit 1`;
  return row;
}

/** @throws Refusal 404 wallet */
export async function getWallet(scope: Scope, key: WalletKey): Promise<WalletRow> {
  const wallet = await findWallet(scope, key);
  if (!wallet) throw refuse.notFound('wallet');
  return wallet;
}

/** A wallet of ours as it is now. */
export const readWallet = (scope: Scope, id: WalletId): Promise<WalletRow> => getWallet(scope, { id });

/** As findWallet, and neither it nor its customer changes until the transaction ends; the customer is locked first. */
export async function lockWallet(scope: Scope, key: WalletKey): Promise<WalletRow | undefined> {
  const { db, organizationId } = scope;
  const found = await findWallet(scope, key);
  if (!found) return undefined;
  await db`
    select from customers where organization_id = ${organizationId} and id = ${found.customer_id} for no key update`;
  await db`select from wallets where organization_id = ${organizationId} and id = ${found.id} for no key update`;
  return readWallet(scope, found.id);
}

/** Wallets of a customer that may be used, in the order in which they pay. */
export const listActiveWallets = ({ db, organizationId }: Scope, customerId: CustomerId) => db<WalletRow[]>`
  select ${columns(db)} from ${tables(db)}
  where wallet.organization_id = ${organizationId} and wallet.customer_id = ${customerId} and wallet.status = 'active'
  order by wallet.priority, wallet.created_at, wallet.id`;

export interface WalletFilters {
  customerId?: CustomerId | undefined;
  currency?: string | undefined;
  statuses?: readonly string[] | undefined;
  billing_entity_codes?: readonly string[] | undefined;
  /** Used up on this day or before. */
  exhaustedBy?: Temporal.PlainDate | undefined;
}

function matching({ db, organizationId }: Scope, filters: WalletFilters) {
  const { customerId, currency, statuses, billing_entity_codes: codes, exhaustedBy } = filters;
  return db`
    wallet.organization_id = ${organizationId}
    ${customerId === undefined ? db`` : db`and wallet.customer_id = ${customerId}`}
    ${currency === undefined ? db`` : db`and wallet.currency = ${currency}`}
    ${statuses === undefined ? db`` : db`and wallet.status = any (${statuses})`}
    ${exhaustedBy === undefined ? db`` : db`and wallet.exhausted_on <= ${exhaustedBy}`}
    ${codes === undefined ? db`` : db`and entity.code = any (${codes})`}`;
}

// No table is joined but for a filter: Postgres would take a page for one row, which it finds by sorting all.
const listedTables = (db: Db, { billing_entity_codes: codes }: WalletFilters) =>
  codes === undefined ? db`wallets wallet` : tables(db);

/** A page of wallets, newest first. */
export const listWallets = (scope: Scope, filters: WalletFilters, page: Page) => scope.db<WalletRow[]>`
  select ${columns(scope.db)} from ${tables(scope.db)}
  where wallet.organization_id = ${scope.organizationId} and wallet.id in (
    select wallet.id from ${listedTables(scope.db, filters)} where ${matching(scope, filters)}
    order by wallet.created_at desc, wallet.id desc
    limit ${limitOf(page).limit} offset ${limitOf(page).offset})
  order by wallet.created_at desc, wallet.id desc`;

export const countWallets = (scope: Scope, filters: WalletFilters): Promise<Total> =>
  countRecords(scope.db, scope.db`${listedTables(scope.db, filters)} where ${matching(scope, filters)}`);

/** Codes of a customer's active wallets. */
export const listWalletCodes = ({ db, organizationId }: Scope, customerId: CustomerId) => db<
  { id: WalletId; code: string }[]
>`
  select id, code from wallets
  where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'active'`;

/** Metrics by their codes, in the order of the codes. */
export const findBillableMetrics = ({ db, organizationId }: Scope, codes: readonly string[]) => db<
  { id: MetricId; code: string }[]
>`
  select id, code from billable_metrics
  where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null
  order by array_position(${codes}::text[], code)`;

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
