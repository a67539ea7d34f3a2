/** The customer transfers the money to an account that the provider names for the payment. */
const TRANSFER = 'customer_balance';
/** The customer pays from a wallet of coins, on a page of the provider. */
const COINS = 'crypto';

/** Currencies in which coins are paid. */
export const COIN_CURRENCIES = ['USD'] as const;

/** Currencies of the kinds of payment for which nothing is stored; the others take those of their provider. */
const CURRENCIES: Readonly<Record<string, readonly string[]>> = {
  [TRANSFER]: ['EUR', 'GBP', 'JPY', 'MXN', 'USD'],
  [COINS]: COIN_CURRENCIES,
};

/** Kinds of payment for which the customer stores a method first. Rule: payments.md#charged-on-line. */
export const storedKinds = (kinds: readonly string[]): string[] =>
  kinds.filter((kind) => !Object.hasOwn(CURRENCIES, kind));

/** Kinds by which an amount of a currency can be paid on a page. */
export const kindsIn = (kinds: readonly string[], currency: string): string[] =>
  kinds.filter((kind) => CURRENCIES[kind]?.includes(currency) ?? true);

/** Whether a customer of these kinds transfers the money, so that no method is needed. */
export const isTransferred = (kinds: readonly string[]): boolean => kinds.length === 1 && kinds[0] === TRANSFER;

export const isTransferredIn = (currency: string): boolean => CURRENCIES[TRANSFER]!.includes(currency);

/** Whether a customer of these kinds may pay on a page what nobody can charge. */
export const isPaidOnPages = (kinds: readonly string[]): boolean => kinds.includes(COINS);

/** Whether a payment on a page can be made by transfer. */
export const offersTransfer = (kinds: readonly string[]): boolean => kinds.includes(TRANSFER);
