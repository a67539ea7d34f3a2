import type { CustomerFields } from './queries.ts';
import type { CustomerInput } from './schema.ts';

// Fields of the input that are columns of the same name.
const PLAIN = [
  'account_type',
  'customer_type',
  'name',
  'firstname',
  'lastname',
  'legal_name',
  'legal_number',
  'tax_identification_number',
  'email',
  'phone',
  'url',
  'logo_url',
  'address_line1',
  'address_line2',
  'city',
  'state',
  'zipcode',
  'country',
  'currency',
  'timezone',
  'net_payment_term',
  'finalize_zero_amount_invoice',
  'skip_invoice_custom_sections',
  'external_salesforce_id',
  'e_document_profile',
] as const satisfies readonly (keyof CustomerInput & keyof CustomerFields)[];

const CONFIGURATION = [
  'invoice_grace_period',
  'subscription_invoice_issuing_date_anchor',
  'subscription_invoice_issuing_date_adjustment',
  'document_locale',
] as const satisfies readonly (keyof NonNullable<CustomerInput['billing_configuration']> & keyof CustomerFields)[];

const ADDRESS = ['address_line1', 'address_line2', 'city', 'state', 'zipcode', 'country'] as const;
const EMPTY_ADDRESS = Object.fromEntries(ADDRESS.map((part) => [part, null]));

/**
 * Columns that an input sets: those of keys that were sent. A partial shipping address sets only its own parts, null
 * clears it whole.
 */
export function fieldsOf(body: CustomerInput): Partial<CustomerFields> {
  const shipping = body.shipping_address === null ? EMPTY_ADDRESS : (body.shipping_address ?? {});
  return {
    ...sent(PLAIN, body),
    ...sent(CONFIGURATION, body.billing_configuration ?? {}),
    ...Object.fromEntries(Object.entries(sent(ADDRESS, shipping)).map(([part, value]) => [`shipping_${part}`, value])),
  };
}

const sent = (keys: readonly string[], from: object): Record<string, unknown> =>
  Object.fromEntries(
    keys
      .filter((key) => (from as Record<string, unknown>)[key] !== undefined)
      .map((key) => [key, (from as Record<string, unknown>)[key]]),
  );
