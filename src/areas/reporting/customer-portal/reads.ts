import type { Instant } from '../../../engine/calendar/instants.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import { AmountOutOfRange, type Cents } from '../../../engine/money/cents.ts';
import { type Decimal, sum } from '../../../engine/money/decimal.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { linkSecrets } from '../../../platform/keys/deployment-keys.ts';
import { refuse } from '../../../platform/refusal.ts';
import { isSigned, readToken } from '../../customers/customers/portal-token.ts';
import { type CurrencyBalance, sumCustomer } from '../../ledger/ledger/customer-balance.ts';
import { payLinks } from '../../messaging/mails/pay-link.ts';
import { listSubscriptionsShown, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { planWeight } from '../../usage/usage/plan-weight.ts';
import { listPricedCharges } from '../../usage/usage/priced-charges.ts';
import { byMetricName } from '../../usage/usage/select-charges.ts';
import { amountOf, type ChargeUsage, usageOfSeveral, usagePeriod } from '../../usage/usage/subscription-usage.ts';
import {
  findPortalCustomer,
  listPortalCreditNotes,
  listPortalInvoices,
  listPortalReceipts,
  listPortalWallets,
  type PortalCreditNote,
  type PortalCustomer,
  type PortalInvoice,
  type PortalReceipt,
  type PortalWallet,
  type Slice,
} from './queries.ts';

/** How many rows of a list are on the page; further ones are pages of the list. */
const ROWS = 12;
const MOST_PAGES = 999;

export const LISTS = ['subscriptions', 'wallets', 'invoices', 'credit_notes', 'payment_receipts'] as const;
export type ListName = (typeof LISTS)[number];

/** Which page of each list is shown, from 1. */
export type Pages = Readonly<Record<ListName, number>>;

export interface List<Row> {
  rows: readonly Row[];
  page: number;
  hasMore: boolean;
}

export interface PortalUsage {
  proration: Proration;
  /** Sorted by name of their metric. */
  charges: readonly { name: string; units: Decimal; amountCents: Cents }[];
  /** Sum of all, without taxes. */
  amountCents: Cents;
}

/** Everything that the page shows of a customer. */
export interface Portal {
  customer: PortalCustomer;
  now: Instant;
  balances: readonly CurrencyBalance[];
  subscriptions: List<SubscriptionShown>;
  /** By id of the active subscriptions; null where an amount overflows. */
  usage: ReadonlyMap<string, PortalUsage> | null;
  wallets: List<PortalWallet>;
  invoices: List<PortalInvoice>;
  creditNotes: List<PortalCreditNote>;
  receipts: List<PortalReceipt>;
  /** Address of the page where an invoice is paid. */
  payLinkOf(invoice: PortalInvoice): string;
}

/**
 * The customer of a token, whether it may act there, and the present of its organization. One round trip.
 *
 * @throws Refusal 401, when the token is not one of ours, has expired or its customer is deleted
 * Rule: customers.md#deletion-portal-checkout.
 */
export async function admit(
  { db, config }: { db: Db; config: Config },
  token: string,
): Promise<{ customer: PortalCustomer; mayAct: boolean; now: Instant }> {
  const read = readToken(token);
  if (read === undefined) throw refuse.unauthorized();
  const [secrets, customer] = await Promise.all([
    linkSecrets({ db, config }, config.PORTAL_TOKEN_TTL_HOURS),
    findPortalCustomer(db, read.customerId),
  ]);
  if (!secrets.some((secret) => isSigned(read, secret)) || customer === undefined) throw refuse.unauthorized();
  return { customer, mayAct: read.mayAct, now: customer.frozen_time ?? realNow() };
}

/** The pages requested by a query like `?invoices=2`; the first page of lists that it does not name. */
export function pagesOf(query: URLSearchParams): Pages {
  const pageOf = (list: ListName) => {
    const asked = query.get(list) ?? '';
    return /^\d{1,3}$/.test(asked) ? Math.min(Math.max(Number(asked), 1), MOST_PAGES) : 1;
  };
  return Object.fromEntries(LISTS.map((list) => [list, pageOf(list)])) as unknown as Pages;
}

/** Reads what the page of a customer shows. Five round trips at most, whatever the number of rows. */
export async function readPortal(ctx: Context, customer: PortalCustomer, pages: Pages): Promise<Portal> {
  const statuses = ['active', 'incomplete', 'pending', 'terminated'] as const;
  const filters = { external_customer_id: customer.external_id, statuses };
  const externalCustomerId = customer.external_id;
  const [balances, subscriptions, wallets, invoices, creditNotes, receipts, payLinkOf] = await Promise.all([
    sumCustomer(ctx, customer.id),
    listOf(pages.subscriptions, (slice) => listSubscriptionsShown(ctx, filters, { ...slice, endedLast: true })),
    listOf(pages.wallets, (slice) => listPortalWallets(ctx, customer.id, slice)),
    listOf(pages.invoices, (slice) => listPortalInvoices(ctx, customer.id, slice)),
    listOf(pages.credit_notes, (slice) => listPortalCreditNotes(ctx, customer.id, slice)),
    listOf(pages.payment_receipts, (slice) => listPortalReceipts(ctx, customer.id, slice)),
    payLinks(ctx),
    ctx.heavy?.admit(`portal ${customer.id}`, () => planWeight(ctx, { externalCustomerId })),
  ]);
  const usage = await usageInProgress(
    ctx,
    subscriptions.rows.filter(({ status }) => status === 'active'),
  );
  return {
    customer,
    now: ctx.now(),
    balances,
    subscriptions,
    usage,
    wallets,
    invoices,
    creditNotes,
    receipts,
    payLinkOf: ({ id }) => payLinkOf({ type: 'Invoice', id }),
  };
}

/** One row more than is shown, to know whether there is another page. */
async function listOf<Row>(page: number, read: (slice: Slice) => PromiseLike<readonly Row[]>): Promise<List<Row>> {
  const rows = await read({ limit: ROWS + 1, offset: (page - 1) * ROWS });
  return { rows: rows.slice(0, ROWS), page, hasMore: rows.length > ROWS };
}

async function usageInProgress(ctx: Context, active: readonly SubscriptionShown[]): Promise<Portal['usage']> {
  if (active.length === 0) return new Map();
  const planIds = [...new Set(active.map(({ plan_id }) => plan_id))];
  const charges = await listPricedCharges(ctx, planIds, { pause: ctx.pause });
  const wanted = active.map((subscription) => ({
    subscription,
    charges: charges.filter(({ plan_id }) => plan_id === subscription.plan_id).sort(byMetricName),
    proration: usagePeriod(subscription, ctx.now()),
  }));
  try {
    const usage = await usageOfSeveral(ctx, wanted);
    return new Map(wanted.map(({ subscription, proration }, n) => [subscription.id, summed(proration, usage[n]!)]));
  } catch (error) {
    if (error instanceof AmountOutOfRange) return null;
    throw error;
  }
}

const summed = (proration: Proration, usage: readonly ChargeUsage[]): PortalUsage => ({
  proration,
  charges: usage.map(({ charge, shares }) => ({
    name: charge.invoice_display_name || charge.metric.name,
    units: sum(shares.map(({ fee }) => fee.units)),
    amountCents: amountOf([{ charge, shares }]),
  })),
  amountCents: amountOf(usage),
});
