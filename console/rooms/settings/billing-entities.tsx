import { to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { countryName } from '../../parts/places.ts';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';
import type { Configuration, Issuer } from './issuer-fields.ts';

const words = t.settings;

export interface Entity extends Issuer, Configuration {
  svc_id: string;
  code: string;
  logo_url: string | null;
  is_default: boolean;
  eu_tax_management: boolean;
  taxes?: { code: string; name: string; rate: number }[];
  created_at: string;
}

/** What is missing before documents of the entity look like those of a company. */
export const missingIn = (entity: Entity): string[] =>
  (
    [
      [entity.address_line1 && entity.city && entity.country, words.missing.address],
      [entity.tax_identification_number, words.missing.taxNumber],
      [entity.logo_url, words.missing.logo],
    ] as const
  ).flatMap(([value, text]) => (value ? [] : [text]));

const makes: Offer = {
  text: words.newEntity,
  submit: words.createEntity,
  needs: 'billing_entity',
  fields: [
    { name: 'code', label: words.code, isNeeded: true },
    { name: 'name', label: words.name, isNeeded: true },
  ],
  command: ({ code, name }) => ({
    method: 'POST',
    path: '/billing_entities',
    body: { billing_entity: { code, name } },
  }),
};

/** Companies in whose name invoices are issued. */
export function BillingEntities() {
  const reading = useRead<{ billing_entities: Entity[] }>('/billing_entities');
  return (
    <>
      <p class="bar">
        <Offers of={[makes]} />
      </p>
      <Shown of={reading}>
        {({ billing_entities }) => (
          <Table
            label={words.entities}
            rows={billing_entities}
            keyOf={({ svc_id }) => svc_id}
            href={({ code }) => to('settings', 'entities', code)}
            columns={[
              {
                head: words.name,
                cell: (entity) => (
                  <>
                    {entity.legal_name ?? entity.name}{' '}
                    {entity.is_default && <Badge of="default">{words.default}</Badge>}
                  </>
                ),
              },
              { head: words.code, cell: ({ code }) => <code>{code}</code> },
              { head: words.country, cell: ({ country }) => countryName(country) ?? '–', isExtra: true },
              { head: words.currency, cell: ({ default_currency }) => default_currency, isExtra: true },
              {
                head: words.complete,
                cell: (entity) => {
                  const missing = missingIn(entity);
                  return missing.length === 0 ? (
                    <Badge of="complete" tone="good">
                      {words.isComplete}
                    </Badge>
                  ) : (
                    <span class="soft">{words.lacks(missing.join(', '))}</span>
                  );
                },
              },
            ]}
          />
        )}
      </Shown>
    </>
  );
}
