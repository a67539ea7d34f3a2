import type { Field } from '../../parts/field.tsx';
import type { Values } from '../../parts/form.tsx';
import { countries, currencies, documentLanguages, timeZones } from '../../parts/places.ts';
import { t } from '../../texts/en.ts';

const words = t.settings;

/** What an organization and a billing entity have in common. */
export interface Issuer {
  name: string;
  legal_name: string | null;
  legal_number: string | null;
  tax_identification_number: string | null;
  email: string | null;
  address_line1: string | null;
  address_line2: string | null;
  zipcode: string | null;
  city: string | null;
  state: string | null;
  country: string | null;
  default_currency: string;
  timezone: string;
  net_payment_term: number;
  document_number_prefix: string;
}

export interface Configuration {
  invoice_footer: string | null;
  invoice_grace_period: number;
  document_locale: string;
}

const TEXTS = [
  'legal_name',
  'legal_number',
  'tax_identification_number',
  'email',
  'address_line1',
  'address_line2',
  'zipcode',
  'city',
  'state',
] as const;
const DAYS = ['net_payment_term'] as const;

export const issuerFields = (of: Issuer & Configuration): Field[] => [
  { name: 'name', label: words.name, value: of.name, isNeeded: true },
  ...TEXTS.map((name) => ({ name, label: words.fields[name]!, value: of[name] ?? '', hint: words.hints[name] })),
  { name: 'country', label: words.country, value: of.country ?? '', choices: countries },
  { name: 'default_currency', label: words.currency, value: of.default_currency, choices: currencies },
  { name: 'timezone', label: words.timezone, value: of.timezone, hint: words.timezoneHint, choices: timeZones },
  { name: 'net_payment_term', label: words.netTerm, type: 'number', value: String(of.net_payment_term) },
  {
    name: 'invoice_grace_period',
    label: words.grace,
    type: 'number',
    value: String(of.invoice_grace_period),
    hint: words.graceHint,
  },
  { name: 'document_number_prefix', label: words.prefix, value: of.document_number_prefix },
  { name: 'document_locale', label: words.locale, value: of.document_locale, choices: documentLanguages },
  { name: 'invoice_footer', label: words.footer, type: 'textarea', value: of.invoice_footer ?? '' },
];

export const issuerValues = (of: Issuer & Configuration): Values =>
  Object.fromEntries(issuerFields(of).map(({ name, value = '' }) => [name, value]));

const number = (text = '') => (/^\d{1,6}$/.test(text) ? Number(text) : text);

/** The body that changes what was typed; an emptied text is cleared. */
export function issuerBody(values: Values, before: Values): Record<string, unknown> {
  const changed = (name: string) => values[name] !== before[name];
  const configuration = {
    ...(changed('invoice_footer') ? { invoice_footer: values.invoice_footer || null } : {}),
    ...(changed('invoice_grace_period') ? { invoice_grace_period: number(values.invoice_grace_period) } : {}),
    ...(changed('document_locale') ? { document_locale: values.document_locale || null } : {}),
  };
  return {
    ...Object.fromEntries(
      ['name', ...TEXTS, 'country', 'default_currency', 'timezone', 'document_number_prefix']
        .filter(changed)
        .map((name) => [name, values[name] === '' ? null : values[name]]),
    ),
    ...Object.fromEntries(DAYS.filter(changed).map((name) => [name, number(values[name])])),
    ...(Object.keys(configuration).length > 0 ? { billing_configuration: configuration } : {}),
  };
}
