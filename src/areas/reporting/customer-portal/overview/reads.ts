import type { Context } from '../../../../platform/context.ts';
import { type CurrencyBalance, sumCustomer } from '../../../ledger/ledger/customer-balance.ts';
import { listSubscriptionsShown, type SubscriptionShown } from '../../../subscriptions/subscriptions/queries.ts';
import type { Frame } from '../frame.ts';
import {
  listOverdueGroups,
  listPortalInvoices,
  listPortalWallets,
  type OverdueGroup,
  type PortalInvoice,
  type PortalWallet,
} from '../queries.ts';
import { type List, listOf } from '../reads.ts';
import { readUsage, type UsageStanding } from '../usage/reads.ts';

/** How many subscriptions have their usage on the overview: it is counted while the page is waited for. */
const WITH_USAGE = 5;
const INVOICES_SHOWN = 5;
const WALLETS_SHOWN = 20;

/** Everything that the overview shows of a customer. */
export interface Overview {
  balances: readonly CurrencyBalance[];
  overdue: readonly OverdueGroup[];
  subscriptions: List<SubscriptionShown>;
  /** By id, of the first active subscriptions; null where an amount overflows. */
  usage: ReadonlyMap<string, UsageStanding> | null;
  wallets: readonly PortalWallet[];
  invoices: readonly PortalInvoice[];
  hasMoreInvoices: boolean;
}

/** Reads what the overview shows: three round trips at most, whatever the number of rows. */
export async function readOverview(ctx: Context, { customer, settings }: Frame, page: number): Promise<Overview> {
  const statuses = ['active', 'incomplete', 'pending', 'terminated'] as const;
  const filters = { external_customer_id: customer.external_id, statuses };
  const [balances, overdue, subscriptions, wallets, invoices] = await Promise.all([
    sumCustomer(ctx, customer.id),
    listOverdueGroups(ctx, customer.id),
    listOf(page, (slice) => listSubscriptionsShown(ctx, filters, { ...slice, endedLast: true })),
    settings.show.wallets ? listPortalWallets(ctx, customer.id, { limit: WALLETS_SHOWN, offset: 0 }) : [],
    listPortalInvoices(ctx, customer.id, { limit: INVOICES_SHOWN + 1, offset: 0 }),
  ]);
  const active = subscriptions.rows.filter(({ status }) => status === 'active').slice(0, WITH_USAGE);
  const usage = settings.show.usage ? await readUsage(ctx, active, { subject: `portal ${customer.id}` }) : [];
  return {
    balances,
    overdue,
    subscriptions,
    usage: usage && new Map(usage.map((each) => [each.subscription.id, each])),
    wallets,
    invoices: invoices.slice(0, INVOICES_SHOWN),
    hasMoreInvoices: invoices.length > INVOICES_SHOWN,
  };
}
