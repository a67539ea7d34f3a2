import { go, to } from '../../frame/route.ts';
import type { Offer } from '../../parts/offers.tsx';
import { customers } from '../../parts/sources.ts';
import { t } from '../../texts/en.ts';
import type { Order, OrderForm, Quote, QuoteVersion } from './records.ts';

const words = t.quotes;

/** What may be offered. */
export interface Sold {
  svc_id: string;
  code: string;
  name: string;
  kind: 'add_on' | 'plan';
  amount_cents: number;
  amount_currency: string;
}

export const makesQuote = (sold: readonly Sold[]): Offer => ({
  text: words.new,
  submit: words.create,
  needs: 'quote',
  isMain: true,
  about: sold.length === 0 ? words.noItems : words.createAbout,
  fields: [
    { name: 'external_customer_id', label: words.customer, isNeeded: true, from: customers },
    {
      name: 'item',
      label: words.item,
      type: 'select',
      hint: words.itemHint,
      value: sold[0]?.svc_id ?? '',
      options: sold.map((each) => [
        each.svc_id,
        (each.kind === 'plan' ? words.planOption : words.addOnOption)(each.name),
      ]),
    },
    { name: 'units', label: words.units, type: 'number', value: '1', hint: words.unitsHint },
  ],
  command: ({ external_customer_id, item, units = '1' }) => {
    const chosen = sold.find(({ svc_id }) => svc_id === item);
    return {
      method: 'POST',
      path: '/quotes',
      body: {
        quote: {
          external_customer_id,
          currency: chosen?.amount_currency,
          ...(chosen?.kind === 'plan'
            ? { order_type: 'subscription_creation', billing_items: { plans: [planItem(chosen)] } }
            : { order_type: 'one_off', billing_items: { addOns: chosen ? [addOnItem(chosen, units)] : [] } }),
        },
      },
    };
  },
  onDone: (answer) => {
    const made = (answer as { quote?: Quote }).quote;
    if (made) go(to('quotes', made.svc_id));
  },
});

const planItem = ({ svc_id, code }: Sold) => ({ id: svc_id, localId: code, type: 'plan', payload: { code } });

const WHOLE_NUMBER = /^\d{1,9}$/;

const addOnItem = ({ svc_id, code, amount_cents }: Sold, units: string) => {
  const number = WHOLE_NUMBER.test(units) ? Number(units) : undefined;
  return {
    id: svc_id,
    localId: code,
    type: 'add_on',
    payload: {
      code,
      units: number ?? units,
      unitAmountCents: amount_cents,
      ...(number === undefined ? {} : { totalAmountCents: number * amount_cents }),
    },
  };
};

const versionPath = ({ svc_id }: QuoteVersion) => `/quote_versions/${svc_id}`;

export const approves = (version: QuoteVersion): Offer | false =>
  version.status === 'draft' && {
    text: words.approve,
    needs: 'quote',
    isMain: true,
    about: words.approveAbout,
    fields: [{ name: 'expires_at', label: words.expires, type: 'date', hint: words.expiresHint }],
    command: ({ expires_at }) => ({
      method: 'POST',
      path: `${versionPath(version)}/approve`,
      body: expires_at ? { expires_at: `${expires_at}T23:59:59Z` } : {},
    }),
  };

export const clones = (version: QuoteVersion): Offer => ({
  text: words.clone,
  needs: 'quote',
  about: words.cloneAbout,
  command: () => ({ method: 'POST', path: `${versionPath(version)}/clone` }),
});

export const voidsVersion = (version: QuoteVersion, number: string): Offer | false =>
  version.status !== 'voided' && {
    text: words.void,
    needs: 'quote',
    typed: number,
    about: words.voidAbout,
    command: () => ({ method: 'POST', path: `${versionPath(version)}/void` }),
  };

export const signs = ({ svc_id, status }: OrderForm): Offer | false =>
  status === 'generated' && {
    text: words.sign,
    needs: 'order_form',
    isMain: true,
    about: words.signAbout,
    fields: [
      {
        name: 'execution_mode',
        label: words.mode,
        type: 'select',
        value: 'execute_in_svc',
        options: [
          ['execute_in_svc', words.modeExecute],
          ['order_only', words.modeOrderOnly],
        ],
      },
    ],
    command: ({ execution_mode }) => ({
      method: 'POST',
      path: `/order_forms/${svc_id}/mark_as_signed`,
      body: { order_form: { execution_mode } },
    }),
  };

export const voidsForm = ({ svc_id, status, number }: OrderForm): Offer | false =>
  status === 'generated' && {
    text: words.voidForm,
    needs: 'order_form',
    typed: number,
    about: words.voidFormAbout,
    command: () => ({ method: 'POST', path: `/order_forms/${svc_id}/void` }),
  };

export const executes = ({ svc_id, status }: Order): Offer | false =>
  status !== 'executed' && {
    text: words.execute,
    needs: 'order',
    about: words.executeAbout,
    command: () => ({
      method: 'POST',
      path: `/orders/${svc_id}/execute`,
      body: { order: { execution_mode: 'execute_in_svc' } },
    }),
  };
