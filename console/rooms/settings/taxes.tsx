import { decimal } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Listing } from '../../parts/listing.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { t } from '../../texts/en.ts';

const words = t.settings;

interface Tax {
  svc_id: string;
  name: string;
  code: string;
  rate: number;
  description: string | null;
  applied_to_organization: boolean;
}

const fieldsOf = (tax?: Tax) => [
  { name: 'name', label: words.name, value: tax?.name ?? '', isNeeded: true, placeholder: words.taxExample },
  { name: 'code', label: words.code, value: tax?.code ?? '', isNeeded: true },
  { name: 'rate', label: words.rate, type: 'number' as const, value: tax ? String(tax.rate) : '', isNeeded: true },
  { name: 'description', label: words.description, value: tax?.description ?? '' },
  {
    name: 'applied_to_organization',
    label: words.byDefault,
    type: 'checkbox' as const,
    value: String(tax?.applied_to_organization ?? false),
  },
];

const bodyOf = ({ applied_to_organization, description, ...tax }: Record<string, string>) => ({
  tax: { ...tax, description: description || null, applied_to_organization: applied_to_organization === 'true' },
});

const makes: Offer = {
  text: words.newTax,
  submit: words.createTax,
  needs: 'tax',
  fields: fieldsOf(),
  command: (values) => ({ method: 'POST', path: '/taxes', body: bodyOf(values) }),
};

const changes = (tax: Tax): (Offer | false)[] => [
  {
    text: t.page.edit,
    title: words.editTax,
    submit: t.page.save,
    needs: 'tax',
    fields: fieldsOf(tax),
    stored: {
      path: `/taxes/${encodeURIComponent(tax.code)}`,
      valuesOf: ({ tax: now }: { tax: Tax }) =>
        Object.fromEntries(fieldsOf(now).map(({ name, value }) => [name, value])),
    },
    command: (values) => ({ method: 'PUT', path: `/taxes/${encodeURIComponent(tax.code)}`, body: bodyOf(values) }),
  },
  {
    text: t.page.delete,
    title: words.deleteTax,
    needs: 'tax',
    typed: tax.code,
    about: words.deleteTaxAbout,
    command: () => ({ method: 'DELETE', path: `/taxes/${encodeURIComponent(tax.code)}` }),
  },
];

/** What is added to invoices for the state. */
export function Taxes() {
  return (
    <>
      <p class="bar">
        <Offers of={[makes]} />
      </p>
      <Listing<Tax>
        path="/taxes"
        root="taxes"
        label={words.taxes}
        columns={[
          {
            head: words.name,
            cell: ({ name, applied_to_organization }) => (
              <>
                {name} {applied_to_organization && <Badge of="default">{words.default}</Badge>}
              </>
            ),
          },
          { head: words.code, cell: ({ code }) => <code>{code}</code> },
          { head: words.rate, cell: ({ rate }) => `${decimal(rate)} %`, isNumber: true },
          { head: words.description, cell: ({ description }) => description ?? '–', isExtra: true },
          {
            head: t.page.do,
            cell: (tax) => (
              <span class="actions">
                <Offers isSmall of={changes(tax)} />
              </span>
            ),
          },
        ]}
        empty={{ title: words.noTaxes, children: <p class="soft">{words.noTaxesHint}</p> }}
      />
    </>
  );
}
