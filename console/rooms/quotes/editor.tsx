import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { go, guardLeaving, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { fieldAmount } from '../../parts/cents.ts';
import { FieldInput } from '../../parts/field.tsx';
import { Action, FormDialog } from '../../parts/form.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { currencies } from '../../parts/places.ts';
import { customers, subscriptions } from '../../parts/sources.ts';
import { Empty, Loading, Shown } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import {
  type Catalog,
  draftOf,
  emptyDraft,
  itemsOf,
  KINDS_OF,
  type Kind,
  newItem,
  onceCents,
  type QuoteDraft,
  type Sold,
} from './draft.ts';
import { ItemCard } from './item-card.tsx';
import type { Quote, WholeVersion } from './records.ts';

const words = t.quotes.editor;
const MOST_LISTED = 100;

/** What can be offered; undefined until it is known. */
function useCatalog(): Catalog | undefined {
  const list = (resource: string, path: string) =>
    useRead<Record<string, Sold[]>>(can(resource) ? `${path}?per_page=${MOST_LISTED}` : null);
  const [plans, addOns, coupons] = [list('plan', '/plans'), list('add_on', '/add_ons'), list('coupon', '/coupons')];
  if ([plans, addOns, coupons].some(({ isLoading }) => isLoading)) return undefined;
  return {
    plans: plans.data?.plans ?? [],
    addOns: addOns.data?.add_ons ?? [],
    coupons: coupons.data?.coupons ?? [],
  };
}

/** Makes a quote of any number of parts, or changes the draft of one. */
export function QuoteEditor({ id }: { id?: string }) {
  const catalog = useCatalog();
  const quote = useRead<{ quote: Quote }>(id === undefined ? null : `/quotes/${encodeURIComponent(id)}`);
  const current = quote.data?.quote.current_version;
  const version = useRead<{ quote_version: WholeVersion }>(current ? `/quote_versions/${current.svc_id}` : null);
  if (id !== undefined && !quote.data) return <Shown of={quote}>{() => null}</Shown>;
  if (id !== undefined && current && !version.data) return <Shown of={version}>{() => null}</Shown>;
  if (!catalog) return <Loading rows={6} />;
  const stored =
    quote.data && version.data ? { quote: quote.data.quote, version: version.data.quote_version } : undefined;
  const currency = stored?.version.currency ?? 'USD';
  const start = stored ? draftOf(stored.quote, stored.version, (cents) => fieldAmount(cents, currency)) : emptyDraft;
  return <Editor key={id ?? 'new'} start={start} catalog={catalog} stored={stored} />;
}

function Editor({
  start,
  catalog,
  stored,
}: {
  start: QuoteDraft;
  catalog: Catalog;
  stored: { quote: Quote; version: WholeVersion } | undefined;
}) {
  const draft = useSignal(start);
  const isSaved = useSignal(false);
  const { orderType, customerId, subscriptionId, content, items } = draft.value;
  const set = (changes: Partial<QuoteDraft>) => {
    draft.value = { ...draft.value, ...changes };
  };
  useEffect(() => guardLeaving(() => draft.peek() === start || isSaved.peek() || confirm(t.plans.editor.leave)), []);
  const isAmendment = orderType === 'subscription_amendment';
  const currency = draft.value.currency || currencyOf(draft.value, catalog) || '';
  const amountOf = ({ amount_cents, amount_currency }: Sold) =>
    amount_cents == null ? '' : fieldAmount(amount_cents, amount_currency ?? currency);
  const add = (kind: Kind) => {
    const sold = kind === 'walletCredits' ? undefined : catalog[kind][0];
    set({ items: [...items, newItem(kind, sold, (cents) => fieldAmount(cents, sold?.amount_currency ?? currency))] });
  };
  const offered = KINDS_OF[orderType] ?? [];
  const shown = items.filter(({ kind }) => offered.includes(kind));
  const once = onceCents({ ...draft.value, items: shown }, currency);
  const authored = {
    billing_items: itemsOf(draft.value, catalog, currency),
    content: content || null,
    ...(isAmendment || currency === '' ? {} : { currency }),
  };
  return (
    <Page
      title={stored ? words.editTitle(stored.quote.number) : t.quotes.new}
      back={
        stored
          ? { href: to('quotes', stored.quote.svc_id), text: stored.quote.number }
          : { href: to('quotes'), text: t.quotes.title }
      }
      actions={
        <Action text={stored ? words.saveMore : words.createMore} isMain>
          {(close) => (
            <FormDialog
              title={stored ? words.saveTitle : t.quotes.new}
              submit={stored ? t.page.save : t.quotes.create}
              onClose={close}
              onDone={(answer) => {
                isSaved.value = true;
                const made = (answer as { quote?: Quote }).quote;
                go(to('quotes', made?.svc_id ?? stored!.quote.svc_id));
              }}
              command={() =>
                stored
                  ? {
                      method: 'PUT',
                      path: `/quote_versions/${stored.version.svc_id}`,
                      body: { quote_version: authored },
                    }
                  : {
                      method: 'POST',
                      path: '/quotes',
                      body: {
                        quote: {
                          external_customer_id: customerId,
                          order_type: orderType,
                          ...(isAmendment ? { external_subscription_id: subscriptionId } : {}),
                          ...authored,
                        },
                      },
                    }
              }
            >
              <p>{t.quotes.createAbout}</p>
              <p class="soft">{words.parts(shown.length)}</p>
            </FormDialog>
          )}
        </Action>
      }
    >
      <div class="card padded basics">
        {!stored && (
          <>
            <FieldInput
              field={{ name: 'customer', label: t.quotes.customer, isNeeded: true, from: customers }}
              value={customerId}
              onInput={(text) => set({ customerId: text })}
            />
            <FieldInput
              field={{
                name: 'order_type',
                label: t.quotes.kind,
                type: 'select',
                options: Object.entries(t.quotes.kinds),
              }}
              value={orderType}
              onInput={(text) => set({ orderType: text })}
            />
            {isAmendment && (
              <FieldInput
                field={{ name: 'subscription', label: t.quotes.subscription, isNeeded: true, from: subscriptions }}
                value={subscriptionId}
                onInput={(text) => set({ subscriptionId: text })}
              />
            )}
          </>
        )}
        {!isAmendment && (
          <FieldInput
            field={{ name: 'currency', label: t.quotes.currency, choices: currencies, hint: words.currencyHint }}
            value={draft.value.currency || currency}
            onInput={(text) => set({ currency: text })}
          />
        )}
      </div>
      <Section title={t.quotes.offered}>
        {shown.map((item) => (
          <ItemCard
            key={item.key}
            item={item}
            catalog={catalog}
            currency={currency}
            isAmendment={isAmendment}
            amountOf={amountOf}
            onChange={(changed) => set({ items: items.map((each) => (each.key === item.key ? changed : each)) })}
            onRemove={() => set({ items: items.filter(({ key }) => key !== item.key) })}
          />
        ))}
        {shown.length === 0 && (
          <Empty title={t.quotes.nothingOffered}>
            <p class="soft">{words.empty[orderType]}</p>
          </Empty>
        )}
        <p class="bar after">
          {offered.map((kind) => {
            const hasNone = kind !== 'walletCredits' && catalog[kind].length === 0;
            const isFull = isAmendment && kind === 'plans' && shown.some((item) => item.kind === 'plans');
            if (isFull) return null;
            return hasNone ? (
              <a key={kind} href={to(ROOM_OF[kind])}>
                {words.makeFirst[kind]}
              </a>
            ) : (
              <button key={kind} type="button" onClick={() => add(kind)}>
                {words.add[kind]}
              </button>
            );
          })}
          {orderType === 'one_off' && shown.length > 1 && once !== undefined && (
            <span class="end">
              {words.total} <b>{money(once, currency)}</b>
            </span>
          )}
        </p>
      </Section>
      <Section title={words.content}>
        <div class="card padded">
          <FieldInput
            field={{ name: 'content', label: words.contentField, type: 'textarea', hint: words.contentHint }}
            value={content}
            onInput={(text) => set({ content: text })}
          />
        </div>
      </Section>
    </Page>
  );
}

const ROOM_OF = { plans: 'plans', addOns: 'add-ons', coupons: 'coupons', walletCredits: 'wallets' } as const;

/** The currency of the first part that has one. */
function currencyOf({ items, orderType }: QuoteDraft, catalog: Catalog): string | undefined {
  for (const { kind, id } of items) {
    if (kind === 'walletCredits' || !KINDS_OF[orderType]?.includes(kind)) continue;
    const currency = catalog[kind].find(({ svc_id }) => svc_id === id)?.amount_currency;
    if (currency) return currency;
  }
  return undefined;
}
