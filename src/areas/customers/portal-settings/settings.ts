/** Blocks of a customer's pages that can be left out; what is off is not read either. */
type PortalBlock = 'usage' | 'projection' | 'entitlements' | 'wallets';

/** Things that a customer may do, where its seller allows them. */
export type PortalPower = 'pay' | 'top_up' | 'payment_methods' | 'billing_data' | 'alerts';

/** Billing data that a customer may change, where `billing_data` is allowed. */
export const BILLING_DATA_FIELDS = [
  'email',
  'legal_name',
  'address',
  'phone',
  'tax_identification_number',
  'name',
] as const;
export type BillingDataField = (typeof BILLING_DATA_FIELDS)[number];

/** How the pages of an issuer's customers look, what they show and what may be done there. */
export interface PortalSettings {
  /** `#rrggbb`, in lower case. */
  accent_color: string;
  show: Record<PortalBlock, boolean>;
  allow: Record<PortalPower, boolean>;
  billing_data_fields: BillingDataField[];
  /** Origins whose pages may hold ours in a frame. */
  embed_origins: string[];
  support_url: string | null;
  terms_url: string | null;
  privacy_url: string | null;
  hide_product_name: boolean;
}

/** What holds until it is set. Rule: portal.md#settings. */
export const DEFAULT_SETTINGS: Readonly<PortalSettings> = {
  accent_color: '#2456c9',
  show: { usage: true, projection: true, entitlements: true, wallets: true },
  // A new power is given by the seller, so that an upgrade changes nothing.
  allow: { pay: true, top_up: false, payment_methods: false, billing_data: false, alerts: false },
  billing_data_fields: ['email', 'legal_name', 'address', 'phone'],
  embed_origins: [],
  support_url: null,
  terms_url: null,
  privacy_url: null,
  hide_product_name: true,
};

/** Those settings that were set. */
export type StoredSettings = Partial<Omit<PortalSettings, 'show' | 'allow'>> & {
  show?: Partial<PortalSettings['show']>;
  allow?: Partial<PortalSettings['allow']>;
};

/** What holds, from what was set. */
export const effectiveSettings = (stored: StoredSettings): PortalSettings => ({
  ...DEFAULT_SETTINGS,
  ...stored,
  show: { ...DEFAULT_SETTINGS.show, ...stored.show },
  allow: { ...DEFAULT_SETTINGS.allow, ...stored.allow },
});
