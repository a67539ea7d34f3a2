import { go, to } from '../../frame/route.ts';
import { FormDialog } from '../../parts/form.tsx';
import type { Offer } from '../../parts/offers.tsx';
import { countries, currencies, timeZones } from '../../parts/places.ts';
import type { Customer } from '../../parts/records.ts';
import { t } from '../../texts/en.ts';

const TEXTS = [
  ['name', t.customers.name],
  ['legal_name', t.customers.legalName],
  ['email', t.customers.email],
  ['address_line1', t.customers.address],
  ['zipcode', t.customers.postalCode],
  ['city', t.customers.city],
  ['country', t.customers.countryField, countries],
  ['currency', t.customers.currencyField, currencies],
  ['timezone', t.customers.timeZone, timeZones],
  ['tax_identification_number', t.customers.taxNumber],
] as const;

/** Makes a customer, or changes one; fields that stay as they are are not sent. */
export function CustomerForm({ customer, onClose }: { customer?: Customer; onClose: () => void }) {
  return (
    <FormDialog
      title={customer ? t.customers.editCustomer : t.customers.newCustomer}
      submit={customer ? t.customers.save : t.customers.createCustomer}
      onClose={onClose}
      fields={[
        ...(customer
          ? []
          : [
              {
                name: 'external_id',
                label: t.customers.externalId,
                isNeeded: true,
                hint: t.customers.externalIdHint,
              },
            ]),
        ...TEXTS.map(([name, label, choices]) => ({
          name,
          label,
          value: customer?.[name] ?? '',
          ...(choices ? { choices } : {}),
        })),
      ]}
      command={(values) => {
        const changed = TEXTS.filter(([name]) => values[name] !== (customer?.[name] ?? ''));
        return {
          method: 'POST',
          path: '/customers',
          body: {
            customer: {
              external_id: customer?.external_id ?? values.external_id,
              ...Object.fromEntries(changed.map(([name]) => [name, values[name] === '' ? null : values[name]])),
            },
          },
        };
      }}
    />
  );
}

/** Ends a customer; what was invoiced stays. */
export const deletesCustomer = ({ external_id }: Customer): Offer => ({
  text: t.customers.delete,
  title: t.customers.deleteCustomer,
  submit: t.customers.deleteForGood,
  needs: 'customer',
  typed: external_id,
  about: t.customers.deleteAbout,
  onDone: () => go(to('customers')),
  command: () => ({ method: 'DELETE', path: `/customers/${encodeURIComponent(external_id)}` }),
});
