/** Providers of the contract. */
export const CONTRACT_PROVIDERS = ['stripe', 'gocardless', 'cashfree', 'adyen', 'flutterwave', 'moneyhash'] as const;
export type ContractProvider = (typeof CONTRACT_PROVIDERS)[number];

/** What a connection may be: a provider of the contract, or one that behaves like it. Rule: provider-connections.md. */
export const PROVIDER_TYPES = ['sandbox', ...CONTRACT_PROVIDERS] as const;
export type ProviderType = (typeof PROVIDER_TYPES)[number];
