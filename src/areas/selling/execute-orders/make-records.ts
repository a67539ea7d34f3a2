import { assert } from '../../../engine/assert.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseIssues } from '../../../platform/schema/field-errors.ts';
import { billOneOff } from '../../billing/bill-one-off/bill-one-off.ts';
import { findAddOns } from '../../catalog/add-ons/queries.ts';
import { listCouponsById } from '../../catalog/coupons/queries.ts';
import { applyCoupon } from '../../credits/applied-coupons/commands.ts';
import { createCustomerWallet } from '../../credits/wallets/create-wallet.ts';
import { CustomerWalletCreate } from '../../credits/wallets/schema.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { OneOffInvoiceCreate } from '../../invoices/invoices/one-off-schema.ts';
import { type LockedCustomer, lockCustomerById } from '../../subscriptions/subscriptions/writes.ts';
import type { OrderRow } from '../orders/queries.ts';
import type { ExecutionRecord } from '../orders/schema.ts';
import type { AddOnItem, CouponItem, WalletItem } from '../quotes/billing-items/item-types.ts';
import { addOnTerms, couponInput, walletInput } from '../quotes/billing-items/terms-of-items.ts';
import { getQuoteVersion } from '../quotes/queries.ts';
import { amendSubscription } from './amend-subscription.ts';
import { createSubscriptions } from './create-subscriptions.ts';
import { lockPlans } from './due-orders.ts';

/** An order with the records that its execution needs. */
export interface Execution {
  order: OrderRow;
  customer: LockedCustomer;
  /** Billing entity that the deal names; undefined leaves it to the customer. */
  billingEntityCode: string | undefined;
}

/**
 * Creates the records of an order with the commands of their rooms: a one-off invoice; or subscriptions, then coupons,
 * then wallets. Plans are locked first, then the customer, as those commands do.
 *
 * @throws Refusal 404 customer, plan, coupon, add_on and so on, as those commands
 * Rule: quotes.md#execution.
 */
export async function makeRecords(ctx: Context, order: OrderRow): Promise<Partial<ExecutionRecord>> {
  const items = order.billing_snapshot ?? {};
  const version = await getQuoteVersion(ctx, order.quote_version_id);
  const billingEntityCode = version.own_billing_entity_code ?? undefined;
  if (order.order_type === 'one_off') {
    const customer = await liveCustomer(ctx, order, 'read');
    return { invoice_id: await billAddOns(ctx, { order, customer, billingEntityCode }, items.addOns ?? []) };
  }
  await lockPlans(ctx, order.subscription_id, items.plans ?? []);
  const customer = await liveCustomer(ctx, order, 'lock');
  const execution = { order, customer, billingEntityCode };
  const subscribed =
    order.order_type === 'subscription_amendment'
      ? await amendSubscription(ctx, execution, items.plans ?? [])
      : await createSubscriptions(ctx, execution, items.plans ?? []);
  return {
    ...subscribed,
    applied_coupon_ids: await applyCoupons(ctx, execution, items.coupons ?? []),
    wallet_ids: await createWallets(ctx, execution, items.walletCredits ?? []),
  };
}

/** @throws Refusal 404 customer, when it was deleted since the quote */
async function liveCustomer(
  ctx: Context,
  { customer_id: id }: OrderRow,
  how: 'read' | 'lock',
): Promise<LockedCustomer> {
  const locked = how === 'lock' ? await lockCustomerById(ctx, id) : undefined;
  const row = await readCustomer(ctx, id);
  if (row.deleted_at) throw refuse.notFound('customer');
  return locked ?? { ...row, zone: row.timezone ?? row.billing_entity_timezone };
}

async function billAddOns(
  ctx: Context,
  { order, customer, billingEntityCode }: Execution,
  items: readonly AddOnItem[],
): Promise<string> {
  const found = await findAddOns(ctx, { ids: items.map(({ id }) => id), codes: [] });
  const codes = new Map(found.map(({ id, code }) => [id, code]));
  if (items.some(({ id }) => !codes.has(id))) throw refuse.notFound('add_on');
  const body = OneOffInvoiceCreate.safeParse({
    external_customer_id: customer.external_id,
    billing_entity_code: billingEntityCode,
    currency: order.currency,
    fees: items.map((item) => {
      const terms = addOnTerms(item);
      return {
        add_on_code: codes.get(item.id),
        units: terms.units,
        unit_amount_cents: terms.unitAmountCents,
        description: terms.description,
        invoice_display_name: terms.invoiceDisplayName,
        from_datetime: terms.fromDatetime,
        to_datetime: terms.toDatetime,
      };
    }),
  });
  if (!body.success) throw refuseIssues(body.error);
  const { invoice } = await billOneOff(ctx, { body: body.data });
  return invoice.svc_id;
}

async function applyCoupons(ctx: Context, { customer }: Execution, items: readonly CouponItem[]): Promise<string[]> {
  const found = await listCouponsById(
    ctx,
    items.map(({ id }) => id),
  );
  const codes = new Map(found.map(({ id, code }) => [id, code]));
  const ids: string[] = [];
  for (const item of items) {
    const code = codes.get(item.id);
    if (code === undefined) throw refuse.notFound('coupon');
    const given = { external_customer_id: customer.external_id, coupon_code: code, ...couponInput(item) };
    const { applied_coupon } = await applyCoupon(ctx, { body: given });
    ids.push(applied_coupon.svc_id);
  }
  return ids;
}

async function createWallets(
  ctx: Context,
  { order, customer, billingEntityCode }: Execution,
  items: readonly WalletItem[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const item of items) {
    const body = CustomerWalletCreate.safeParse({
      currency: order.currency,
      billing_entity_code: billingEntityCode,
      ...walletInput(item),
    });
    if (!body.success) throw refuseIssues(body.error);
    const { wallet } = await createCustomerWallet(ctx, { external_customer_id: customer.external_id, body: body.data });
    assert(wallet.svc_id, 'a wallet that was made has an id');
    ids.push(wallet.svc_id);
  }
  return ids;
}
