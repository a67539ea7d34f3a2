import { go, to } from '../../frame/route.ts';
import { FormDialog } from '../../parts/form.tsx';
import type { Offer } from '../../parts/offers.tsx';
import type { Customer } from '../../parts/records.ts';

const TEXTS = [
  ['name', 'Name'],
  ['legal_name', 'Legal name'],
  ['email', 'Email'],
  ['address_line1', 'Address'],
  ['zipcode', 'Postal code'],
  ['city', 'City'],
  ['country', 'Country (two letters)'],
  ['currency', 'Currency (three letters)'],
  ['timezone', 'Time zone'],
  ['tax_identification_number', 'Tax number'],
] as const;

/** Makes a customer, or changes one; fields that stay as they are are not sent. */
export function CustomerForm({ customer, onClose }: { customer?: Customer; onClose: () => void }) {
  return (
    <FormDialog
      title={customer ? 'Edit customer' : 'New customer'}
      submit={customer ? 'Save' : 'Create customer'}
      onClose={onClose}
      fields={[
        ...(customer
          ? []
          : [
              {
                name: 'external_id',
                label: 'External id',
                isNeeded: true,
                hint: 'What your application calls this customer; it cannot be changed.',
              },
            ]),
        ...TEXTS.map(([name, label]) => ({ name, label, value: customer?.[name] ?? '' })),
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
  text: 'Delete',
  title: 'Delete customer',
  submit: 'Delete for good',
  needs: 'customer',
  typed: external_id,
  about: 'Its subscriptions end now, and drafts become final. Invoices and payments stay. This cannot be taken back.',
  onDone: () => go(to('customers')),
  command: () => ({ method: 'DELETE', path: `/customers/${encodeURIComponent(external_id)}` }),
});
