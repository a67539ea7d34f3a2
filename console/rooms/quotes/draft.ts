import { productCents, typedCents } from '../../parts/cents.ts';
import type { Items, Quote, WholeVersion } from './records.ts';

export type Kind = 'plans' | 'addOns' | 'coupons' | 'walletCredits';
export type Terms = Record<string, string>;

/** A part of an offer in the editor: texts as they are typed, and what is sent as it was. */
export interface DraftItem {
  key: string;
  kind: Kind;
  /** Of the plan, the add-on or the coupon; none of credits. */
  id: string;
  terms: Terms;
  kept: Record<string, unknown>;
}

export interface QuoteDraft {
  orderType: string;
  customerId: string;
  subscriptionId: string;
  /** Empty: that of what is offered, or the customer's. */
  currency: string;
  content: string;
  items: DraftItem[];
}

/** What may be offered, as the lists of the API have it. */
export interface Sold {
  svc_id: string;
  code: string;
  name: string;
  amount_cents?: number | null;
  amount_currency?: string | null;
  coupon_type?: string;
  percentage_rate?: string | null;
  frequency?: string;
  frequency_duration?: number | null;
}
export type Catalog = Record<'plans' | 'addOns' | 'coupons', readonly Sold[]>;

/** Which parts each kind of order may have. Rule: quotes.md#billing-items. */
export const KINDS_OF: Record<string, readonly Kind[]> = {
  subscription_creation: ['plans', 'coupons', 'walletCredits'],
  subscription_amendment: ['plans', 'coupons', 'walletCredits'],
  one_off: ['addOns'],
};

export const emptyDraft: QuoteDraft = {
  orderType: 'subscription_creation',
  customerId: '',
  subscriptionId: '',
  currency: '',
  content: '',
  items: [],
};

/** Terms of a new part; `amountOf` writes an amount as it is typed. */
export function newItem(kind: Kind, sold: Sold | undefined, amountOf: (cents: number) => string): DraftItem {
  const terms: Record<Kind, Terms> = {
    plans: { subscriptionExternalId: '', subscriptionName: '', billingTime: 'calendar', startDate: '', endDate: '' },
    addOns: { units: '1', unitAmount: sold?.amount_cents == null ? '' : amountOf(sold.amount_cents) },
    coupons: {},
    walletCredits: { paidCredits: '0', grantedCredits: '0', rateAmount: '1', name: '' },
  };
  return { key: crypto.randomUUID(), kind, id: sold?.svc_id ?? '', terms: terms[kind], kept: {} };
}

/** A version as the editor holds it. */
export function draftOf(quote: Quote, version: WholeVersion, amountOf: (cents: number) => string): QuoteDraft {
  const items = Object.entries(version.billing_items ?? {}).flatMap(([kind, list]) =>
    list.map((item) => itemOf(kind as Kind, item, amountOf)),
  );
  return {
    ...emptyDraft,
    orderType: quote.order_type,
    currency: version.currency ?? '',
    content: version.content ?? '',
    items,
  };
}

function itemOf(kind: Kind, item: Items[string][number], amountOf: (cents: number) => string): DraftItem {
  const { payload = {} } = item;
  const start = newItem(kind, undefined, amountOf);
  const terms = Object.fromEntries(
    Object.entries(start.terms).map(([name, value]) => [name, String(payload[name] ?? value)]),
  );
  if (payload.unitAmountCents !== undefined) terms.unitAmount = amountOf(payload.unitAmountCents);
  if (terms.startDate) terms.startDate = terms.startDate.slice(0, 10);
  if (terms.endDate) terms.endDate = terms.endDate.slice(0, 10);
  return { ...start, key: item.localId ?? start.key, id: item.id ?? '', terms, kept: { ...item } };
}

const filled = (terms: Terms) => Object.fromEntries(Object.entries(terms).filter(([, text]) => text !== ''));

/** The items of the body, by their kind. What the editor does not show goes out as it was. */
export function itemsOf(draft: QuoteDraft, catalog: Catalog, currency: string): Record<string, unknown[]> {
  const lists: Record<string, unknown[]> = {};
  for (const item of draft.items) {
    if (!KINDS_OF[draft.orderType]?.includes(item.kind)) continue;
    lists[item.kind] ??= [];
    lists[item.kind]!.push(partOf(item, catalog, currency));
  }
  return lists;
}

const TYPES: Record<Kind, string> = {
  plans: 'plan',
  addOns: 'add_on',
  coupons: 'coupon',
  walletCredits: 'wallet_credit',
};

function partOf({ key, kind, id, terms, kept }: DraftItem, catalog: Catalog, currency: string) {
  const sold = kind === 'walletCredits' ? undefined : catalog[kind].find(({ svc_id }) => svc_id === id);
  const former = kept.id === id || kind === 'walletCredits' ? ((kept.payload as object) ?? {}) : {};
  return {
    ...kept,
    ...(kind === 'walletCredits' ? {} : { id }),
    localId: key,
    type: TYPES[kind],
    payload: {
      ...without(former, Object.keys(terms)),
      ...(sold ? { code: sold.code } : {}),
      ...termsOf(kind, terms, sold, currency),
    },
  };
}

const without = (record: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

function termsOf(kind: Kind, terms: Terms, sold: Sold | undefined, currency: string): Record<string, unknown> {
  switch (kind) {
    case 'addOns': {
      const unitAmountCents = typedCents(terms.unitAmount ?? '', currency);
      const total = typeof unitAmountCents === 'number' ? productCents(terms.units ?? '', unitAmountCents) : undefined;
      return { units: terms.units, unitAmountCents, ...(total === undefined ? {} : { totalAmountCents: total }) };
    }
    case 'coupons':
      return sold
        ? {
            type: sold.coupon_type,
            frequency: sold.frequency,
            ...(sold.frequency_duration == null ? {} : { frequencyDuration: sold.frequency_duration }),
            ...(sold.coupon_type === 'percentage'
              ? { percentageRate: sold.percentage_rate }
              : { amountCents: sold.amount_cents, currency: sold.amount_currency }),
          }
        : {};
    default:
      return filled(terms);
  }
}

/** The sum of what is billed once; undefined while an amount is missing. */
export function onceCents(draft: QuoteDraft, currency: string): number | undefined {
  let sum = 0;
  for (const { kind, terms } of draft.items) {
    if (kind !== 'addOns') continue;
    const price = typedCents(terms.unitAmount ?? '', currency);
    const total = typeof price === 'number' ? productCents(terms.units ?? '', price) : undefined;
    if (total === undefined) return undefined;
    sum += total;
  }
  return sum;
}
