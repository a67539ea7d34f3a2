import type Stripe from 'stripe';

/** Countries in which Stripe has accounts for transfers in euros. */
const EURO_COUNTRIES = ['BE', 'DE', 'ES', 'FR', 'IE', 'NL'] as const;
type EuroCountry = (typeof EURO_COUNTRIES)[number];
/** Sellers of other countries get an account of Stripe's own. */
const OTHERS: EuroCountry = 'IE';

/** The kind of transfer by which each currency is paid. */
const KINDS = {
  EUR: 'eu_bank_transfer',
  GBP: 'gb_bank_transfer',
  JPY: 'jp_bank_transfer',
  MXN: 'mx_bank_transfer',
  USD: 'us_bank_transfer',
} as const;

type Transfer = Stripe.PaymentIntentCreateParams.PaymentMethodOptions.CustomerBalance;

/** How an amount of a currency is transferred; undefined if it cannot be. Rule: payments.md#charged-on-line. */
export function transferIn(currency: string, sellerCountry: string | null | undefined): Transfer | undefined {
  if (!Object.hasOwn(KINDS, currency)) return undefined;
  const type = KINDS[currency as keyof typeof KINDS];
  const country = EURO_COUNTRIES.find((each) => each === sellerCountry) ?? OTHERS;
  return {
    funding_type: 'bank_transfer',
    bank_transfer: { type, ...(type === 'eu_bank_transfer' ? { eu_bank_transfer: { country } } : {}) },
  };
}
