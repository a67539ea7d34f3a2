import type { ChargeOutcome, ProviderError } from './port.ts';

export const TOO_SMALL: ProviderError = { code: 'amount_too_small', message: 'Less than the provider can take.' };
export const NOT_REPRESENTABLE: ProviderError = {
  code: 'amount_not_representable',
  message: 'The provider cannot give back a part of its smallest step.',
};

/** The outcome of a charge in a currency that the provider does not take, found before any call. */
export const notSupported = (currency: string) =>
  ({
    kind: 'answered',
    status: 'failed',
    paymentStatus: 'failed',
    providerPaymentId: null,
    error: { code: 'currency_not_supported', message: `The provider takes no ${currency}.` },
  }) satisfies ChargeOutcome;
