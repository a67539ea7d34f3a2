import { go, to } from '../../frame/route.ts';
import { fieldAmount, typedCents } from '../../parts/cents.ts';
import { codesOf, textOfCodes } from '../../parts/choices.tsx';
import type { Offer } from '../../parts/offers.tsx';
import { currencies } from '../../parts/places.ts';
import { customers, taxes } from '../../parts/sources.ts';
import { t } from '../../texts/en.ts';

const words = t.addOns;

export interface AddOn {
  svc_id: string;
  name: string;
  invoice_display_name: string | null;
  code: string;
  amount_cents: number;
  amount_currency: string;
  description: string | null;
  taxes?: { code: string; name: string }[];
  created_at: string;
}

export const addOnPath = (code: string): string => `/add_ons/${encodeURIComponent(code)}`;

const fieldsOf = (addOn?: AddOn) => [
  { name: 'name', label: words.name, value: addOn?.name ?? '', isNeeded: true },
  { name: 'code', label: words.code, value: addOn?.code ?? '', isNeeded: true },
  {
    name: 'amount',
    label: words.amount,
    type: 'number' as const,
    isNeeded: true,
    value: addOn ? fieldAmount(addOn.amount_cents, addOn.amount_currency) : '',
  },
  {
    name: 'amount_currency',
    label: words.currency,
    value: addOn?.amount_currency ?? '',
    choices: currencies,
    isNeeded: true,
  },
  {
    name: 'invoice_display_name',
    label: words.displayName,
    value: addOn?.invoice_display_name ?? '',
    hint: words.displayNameHint,
  },
  { name: 'description', label: words.description, value: addOn?.description ?? '' },
  {
    name: 'tax_codes',
    label: words.taxCodes,
    value: textOfCodes(addOn?.taxes?.map(({ code }) => code) ?? []),
    hint: words.taxCodesHint,
    from: taxes,
    isMany: true,
  },
];

function bodyOf(values: Record<string, string>) {
  const {
    amount = '',
    amount_currency: currency = '',
    tax_codes,
    invoice_display_name,
    description,
    ...named
  } = values;
  return {
    ...named,
    amount_cents: typedCents(amount, currency),
    amount_currency: currency,
    invoice_display_name: invoice_display_name || null,
    description: description || null,
    tax_codes: codesOf(tax_codes),
  };
}

export const makesAddOn = (): Offer => ({
  text: words.new,
  submit: words.create,
  needs: 'add_on',
  isMain: true,
  fields: fieldsOf(),
  command: (values) => ({ method: 'POST', path: '/add_ons', body: { add_on: bodyOf(values) } }),
  onDone: (answer) => {
    const made = (answer as { add_on?: AddOn }).add_on;
    if (made) go(to('add-ons', made.code));
  },
});

export const editsAddOn = (addOn: AddOn): Offer => ({
  text: t.page.edit,
  title: words.edit,
  submit: t.page.save,
  needs: 'add_on',
  fields: fieldsOf(addOn),
  stored: {
    path: addOnPath(addOn.code),
    valuesOf: ({ add_on: now }: { add_on: AddOn }) =>
      Object.fromEntries(fieldsOf(now).map(({ name, value }) => [name, value])),
  },
  command: (values) => ({ method: 'PUT', path: addOnPath(addOn.code), body: { add_on: bodyOf(values) } }),
  onDone: (answer) => {
    const changed = (answer as { add_on?: AddOn }).add_on;
    if (changed && changed.code !== addOn.code) go(to('add-ons', changed.code));
  },
});

export const deletesAddOn = ({ code }: AddOn): Offer => ({
  text: t.page.delete,
  title: words.delete,
  needs: 'add_on',
  typed: code,
  about: words.deleteAbout,
  command: () => ({ method: 'DELETE', path: addOnPath(code) }),
  onDone: () => go(to('add-ons')),
});

/** An invoice of the add-on alone. */
export const billsAddOn = (addOn: AddOn): Offer => ({
  text: words.bill,
  title: words.billTitle(addOn.name),
  submit: words.billSubmit,
  needs: 'invoice',
  isMain: true,
  about: words.billAbout,
  fields: [
    { name: 'external_customer_id', label: words.customer, isNeeded: true, from: customers },
    { name: 'units', label: words.units, type: 'number', value: '1', isNeeded: true },
    { name: 'unit_amount', label: words.unitAmount, type: 'number', hint: words.unitAmountHint },
  ],
  command: ({ external_customer_id, units, unit_amount = '' }) => ({
    method: 'POST',
    path: '/invoices',
    body: {
      invoice: {
        external_customer_id,
        currency: addOn.amount_currency,
        fees: [
          {
            add_on_code: addOn.code,
            units,
            ...(unit_amount === '' ? {} : { unit_amount_cents: typedCents(unit_amount, addOn.amount_currency) }),
          },
        ],
      },
    },
  }),
  onDone: (answer) => {
    const made = (answer as { invoice?: { svc_id: string } }).invoice;
    if (made) go(to('invoices', made.svc_id));
  },
});
