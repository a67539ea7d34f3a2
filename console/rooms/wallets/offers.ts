import { go, to } from '../../frame/route.ts';
import { decimal } from '../../parts/amounts.ts';
import type { Offer } from '../../parts/offers.tsx';
import { currencies } from '../../parts/places.ts';
import { customers } from '../../parts/sources.ts';
import { t } from '../../texts/en.ts';
import type { Wallet } from './records.ts';

const words = t.wallets;

const transaction = (wallet: Wallet, fields: object) => ({
  method: 'POST' as const,
  path: '/wallet_transactions',
  body: { wallet_transaction: { wallet_id: wallet.svc_id, ...fields } },
});

export const topsUp = (wallet: Wallet): Offer => ({
  text: words.topUp,
  submit: words.addCredits,
  needs: 'wallet_transaction',
  about: words.topUpAbout(decimal(wallet.rate_amount), wallet.currency),
  fields: [
    { name: 'paid_credits', label: words.paidCredits, type: 'number', placeholder: '0' },
    { name: 'granted_credits', label: words.grantedCredits, type: 'number', placeholder: '0' },
    { name: 'name', label: words.transactionName, hint: words.transactionNameHint },
  ],
  command: ({ paid_credits, granted_credits, name }) =>
    transaction(wallet, {
      ...(paid_credits ? { paid_credits } : {}),
      ...(granted_credits ? { granted_credits } : {}),
      ...(name ? { name } : {}),
    }),
});

export const voidsCredits = (wallet: Wallet): Offer => ({
  text: words.voidCredits,
  needs: 'wallet_transaction',
  typed: t.typed.void,
  about: words.voidAbout(decimal(wallet.credits_balance)),
  fields: [{ name: 'voided_credits', label: words.voidedCredits, type: 'number', isNeeded: true }],
  command: ({ voided_credits }) => transaction(wallet, { voided_credits }),
});

const settings = (wallet?: Wallet) => [
  { name: 'name', label: words.name, value: wallet?.name ?? '' },
  {
    name: 'priority',
    label: words.priority,
    type: 'number' as const,
    value: String(wallet?.priority ?? 50),
    hint: words.priorityHint,
  },
  { name: 'expiration_at', label: words.ends, type: 'date' as const, value: wallet?.expiration_at?.slice(0, 10) ?? '' },
];

const settingsBody = ({ name, priority = '', expiration_at }: Record<string, string>) => ({
  name: name || null,
  priority: /^\d{1,6}$/.test(priority) ? Number(priority) : priority,
  expiration_at: expiration_at ? `${expiration_at}T23:59:59Z` : null,
});

export const editsWallet = (wallet: Wallet): Offer => ({
  text: t.page.edit,
  title: words.edit,
  submit: t.page.save,
  needs: 'wallet',
  fields: settings(wallet),
  stored: {
    path: `/wallets/${wallet.svc_id}`,
    valuesOf: ({ wallet: now }: { wallet: Wallet }) =>
      Object.fromEntries(settings(now).map(({ name, value }) => [name, value])),
  },
  command: (values) => ({
    method: 'PUT',
    path: `/wallets/${wallet.svc_id}`,
    body: { wallet: settingsBody(values) },
  }),
});

export const endsWallet = (wallet: Wallet): Offer => ({
  text: words.terminate,
  needs: 'wallet',
  typed: wallet.code,
  about: words.terminateAbout(decimal(wallet.credits_balance)),
  command: () => ({ method: 'DELETE', path: `/wallets/${wallet.svc_id}` }),
});

/** Makes a wallet; without `customerId` the form asks whose. */
export const makesWallet = (customerId?: string, currency = ''): Offer => ({
  text: words.new,
  submit: words.create,
  needs: 'wallet',
  isMain: customerId === undefined,
  fields: [
    ...(customerId === undefined
      ? [{ name: 'external_customer_id', label: words.customer, isNeeded: true, from: customers }]
      : []),
    { name: 'name', label: words.name, placeholder: words.nameExample },
    { name: 'currency', label: words.currency, value: currency, hint: words.currencyHint, choices: currencies },
    { name: 'rate_amount', label: words.rate, type: 'number', value: '1', isNeeded: true, hint: words.rateHint },
    { name: 'paid_credits', label: words.paidCredits, type: 'number', placeholder: '0' },
    { name: 'granted_credits', label: words.grantedCredits, type: 'number', placeholder: '0' },
    { name: 'expiration_at', label: words.ends, type: 'date' },
  ],
  command: ({
    external_customer_id,
    name,
    currency: in_,
    rate_amount,
    paid_credits,
    granted_credits,
    expiration_at,
  }) => ({
    method: 'POST',
    path: '/wallets',
    body: {
      wallet: {
        external_customer_id: customerId ?? external_customer_id,
        rate_amount,
        ...(name ? { name } : {}),
        ...(in_ ? { currency: in_ } : {}),
        ...(paid_credits ? { paid_credits } : {}),
        ...(granted_credits ? { granted_credits } : {}),
        ...(expiration_at ? { expiration_at: `${expiration_at}T23:59:59Z` } : {}),
      },
    },
  }),
  onDone: (answer) => {
    const made = (answer as { wallet?: { svc_id: string } }).wallet;
    if (made) go(to('wallets', made.svc_id));
  },
});
