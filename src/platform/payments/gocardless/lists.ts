import { Temporal } from 'temporal-polyfill';
import { fromWire } from '../../../engine/money/wire.ts';
import { type ListRequest, type MethodThere, type PaymentProvider, ProviderRefusal } from '../port.ts';
import { BankAccount, Mandate, Named, Payment, Refund } from './answers.ts';
import type { GocardlessClient } from './client.ts';
import { GOCARDLESS_WIRE } from './wire.ts';

/** Records of a page: the most that GoCardless gives is 500. */
const PAGE = '100';
/** Pages of one customer's mandates that are read; nobody has signed a thousand. */
const MOST_PAGES = 10;

/** States in which a mandate may be charged; until it is active GoCardless waits with the payment. */
const CHARGEABLE = ['pending_customer_approval', 'pending_submission', 'submitted', 'active'];

/** The kind of all its methods. */
const METHOD_TYPE = 'bank_debit';

type Lists = Required<Pick<PaymentProvider, 'readCustomer' | 'listMethods' | 'listPayments' | 'listRefunds'>>;

/** What GoCardless holds, read page by page, newest first. Rule: provider-connections.md#gocardless. */
export const gocardlessLists = (client: GocardlessClient): Lists => ({
  async readCustomer(id) {
    try {
      await client.read('customers', Named, id);
      return { defaultMethodId: null };
    } catch (error) {
      const isGone = error instanceof ProviderRefusal && GONE.includes(error.error.httpStatus ?? 0);
      if (isGone) return undefined;
      throw error;
    }
  },
  async listMethods(customer) {
    const mandates = await all((cursor) => client.list('mandates', Mandate, { customer, limit: PAGE, ...cursor }));
    const accounts = await all((cursor) =>
      client.list('customer_bank_accounts', BankAccount, { customer, limit: PAGE, ...cursor }),
    );
    return mandates
      .filter(({ status }) => CHARGEABLE.includes(status))
      .map((mandate): MethodThere => {
        const account = accounts.find(({ id }) => id === mandate.links.customer_bank_account);
        const details = {
          scheme: mandate.scheme,
          mandate_reference: mandate.reference,
          bank: account?.bank_name,
          last4: account?.account_number_ending,
        };
        return {
          providerMethodId: mandate.id,
          methodType: METHOD_TYPE,
          details: Object.fromEntries(Object.entries(details).filter((each): each is [string, string] => !!each[1])),
          formerIds: formerIdsOf(mandate.id, mandates),
        };
      });
  },
  async listPayments(request) {
    const { items, next } = await client.list('payments', Payment, filtersOf(request));
    return {
      next,
      items: items.map(({ id, status, amount, currency, metadata, created_at: madeAt }) => {
        const money = moneyOf(amount, currency);
        const received = status === 'paid_out' ? { received: money } : {};
        return { providerPaymentId: id, status, ...money, ...received, metadata: metadata ?? {}, ...madeAtOf(madeAt) };
      }),
    };
  },
  async listRefunds(request) {
    const { items, next } = await client.list('refunds', Refund, filtersOf(request));
    return {
      next,
      items: items.map(({ id, status, amount, currency, metadata, links, created_at: madeAt }) => ({
        providerRefundId: id,
        providerPaymentId: links?.payment ?? '',
        status: status ?? 'created',
        ...moneyOf(amount, currency),
        metadata: metadata ?? {},
        ...madeAtOf(madeAt),
      })),
    };
  },
});

/** Statuses of a customer who never existed there, and of one whose data were removed. */
const GONE = [404, 410];

/** The refunds of a payment: at most five. @throws ProviderRefusal, Outage */
export const refundsOf = async (client: GocardlessClient, payment: string): Promise<Refund[]> =>
  (await client.list('refunds', Refund, { payment, limit: PAGE })).items;

/** The mandates that one has replaced, one after the other. */
function formerIdsOf(id: string, mandates: readonly Mandate[]): string[] {
  const former: string[] = [];
  for (let now: string | undefined = id; now !== undefined && former.length < mandates.length; ) {
    const before: Mandate | undefined = mandates.find(({ links }) => links.new_mandate === now);
    if (before) former.push(before.id);
    now = before?.id;
  }
  return former;
}

async function all<Item>(
  page: (cursor: { after?: string }) => Promise<{ items: Item[]; next: string | null }>,
): Promise<Item[]> {
  const items: Item[] = [];
  let after: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const got: { items: Item[]; next: string | null } = await page(after === null ? {} : { after });
    items.push(...got.items);
    after = got.next;
    if (after === null) break;
  }
  return items;
}

const madeAtOf = (instant: string | null | undefined): { madeAtSeconds?: number } =>
  instant ? { madeAtSeconds: Math.trunc(Temporal.Instant.from(instant).epochMilliseconds / 1000) } : {};

const instantOf = (seconds: number): string => Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toString();

const filtersOf = ({ sinceSeconds, untilSeconds, cursor }: ListRequest) => ({
  limit: PAGE,
  'created_at[gte]': instantOf(sinceSeconds),
  ...(typeof untilSeconds === 'number' ? { 'created_at[lte]': instantOf(untilSeconds) } : {}),
  ...(cursor === null ? {} : { after: cursor }),
});

export const moneyOf = (wire: number, currency: string) => ({
  currency,
  amountCents: fromWire(GOCARDLESS_WIRE, wire, currency) ?? null,
});
