import type Stripe from 'stripe';
import { fromWire } from '../../../engine/money/wire.ts';
import { textsOf } from '../metadata.ts';
import type { Listed, ListRequest, PaymentProvider } from '../port.ts';
import { methodDetails, receivedOf } from './events.ts';
import { refusable } from './refusable.ts';
import { STRIPE_WIRE } from './wire.ts';

/** Records of a page: the most that Stripe gives. */
const PAGE = 100;
/** Pages of one customer's methods that are read; nobody has stored a thousand cards. */
const MOST_PAGES = 10;

type Lists = Required<
  Pick<PaymentProvider, 'readCustomer' | 'listMethods' | 'listPayments' | 'listRefunds' | 'listDisputes'>
>;

/** What Stripe holds, read page by page. Rule: provider-connections.md#capabilities `list`, `read`. */
export const stripeLists = (stripe: Stripe): Lists => ({
  async readCustomer(id) {
    const found = await refusable(() => stripe.customers.retrieve(id)).catch((error) => {
      if (error?.error?.code === 'resource_missing') return undefined;
      throw error;
    });
    if (!found || found.deleted) return undefined;
    return { defaultMethodId: idOf(found.invoice_settings?.default_payment_method) ?? idOf(found.default_source) };
  },
  async listMethods(customer, types) {
    const methods: Stripe.PaymentMethod[] = [];
    let cursor: string | null = null;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const page: Stripe.ApiList<Stripe.PaymentMethod> = await refusable(() =>
        stripe.customers.listPaymentMethods(customer, { limit: PAGE, ...after(cursor) }),
      );
      methods.push(...page.data.filter(({ type }) => types.includes(type)));
      cursor = nextOf(page);
      if (cursor === null) break;
    }
    return methods.map((method) => ({
      providerMethodId: method.id,
      methodType: method.type,
      details: methodDetails(method),
    }));
  },
  listPayments: (request) =>
    listed(
      () => stripe.paymentIntents.list(pageOf(request)),
      (intent) => ({
        providerPaymentId: intent.id,
        status: intent.status,
        ...moneyOf(intent.amount, intent.currency),
        ...receivedOf(intent),
        metadata: textsOf(intent.metadata),
        madeAtSeconds: intent.created,
      }),
    ),
  listRefunds: (request) =>
    listed(
      () => stripe.refunds.list(pageOf(request)),
      ({ id, payment_intent: payment, status, currency, amount, metadata, created }) => ({
        providerRefundId: id,
        providerPaymentId: idOf(payment) ?? '',
        status: status ?? 'pending',
        ...moneyOf(amount, currency),
        metadata: textsOf(metadata),
        madeAtSeconds: created,
      }),
    ),
  listDisputes: (request) =>
    listed(
      () => stripe.disputes.list(pageOf(request)),
      ({ id, payment_intent: payment, status, reason, created }) => ({
        providerDisputeId: id,
        providerPaymentId: idOf(payment) ?? '',
        isLost: status === 'lost' ? true : status === 'won' ? false : null,
        reason,
        madeAtSeconds: created,
      }),
    ),
});

async function listed<There, Item>(
  call: () => Promise<Stripe.ApiList<There & { id: string }>>,
  item: (there: There & { id: string }) => Item,
): Promise<Listed<Item>> {
  const page = await refusable(call);
  return { items: page.data.map(item), next: nextOf(page) };
}

const nextOf = (page: Stripe.ApiList<{ id: string }>): string | null =>
  page.has_more ? (page.data.at(-1)?.id ?? null) : null;

const after = (cursor: string | null): { starting_after?: string } =>
  cursor === null ? {} : { starting_after: cursor };

const pageOf = ({ sinceSeconds, untilSeconds, cursor }: ListRequest) => ({
  limit: PAGE,
  created: { gte: sinceSeconds, ...(typeof untilSeconds === 'number' ? { lte: untilSeconds } : {}) },
  ...after(cursor),
});

const moneyOf = (wire: number, currency: string) => ({
  currency: currency.toUpperCase(),
  amountCents: fromWire(STRIPE_WIRE, wire, currency.toUpperCase()) ?? null,
});

const idOf = (reference: string | { id: string } | null | undefined): string | null =>
  typeof reference === 'string' ? reference : (reference?.id ?? null);
