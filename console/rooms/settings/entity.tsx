import { searchOf, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { codesOf, textOfCodes } from '../../parts/choices.tsx';
import { Id } from '../../parts/copy.tsx';
import { CommandForm } from '../../parts/form.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import type { Invoice } from '../../parts/records.ts';
import { taxes } from '../../parts/sources.ts';
import { Shown } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import { Download } from '../invoices/invoice-actions.tsx';
import { type Entity, missingIn } from './billing-entities.tsx';
import { issuerBody, issuerFields, issuerValues } from './issuer-fields.ts';
import { LogoForm } from './logo-form.tsx';

const words = t.settings;

/** One company: address, numbers, logo and taxes of its documents. */
export function EntityPage({ code }: { code: string }) {
  const path = `/billing_entities/${encodeURIComponent(code)}`;
  const reading = useRead<{ billing_entity: Entity }>(path);
  return (
    <Shown of={reading} rows={8}>
      {({ billing_entity: entity }) => (
        <Page
          title={entity.legal_name ?? entity.name}
          badge={entity.is_default && <Badge of="default">{words.default}</Badge>}
          back={{ href: to('settings', 'entities'), text: words.entities }}
          under={<Id of={entity.code} />}
          actions={<Offers of={[chargesTaxes(entity, path), archives(entity, path)]} />}
        >
          {missingIn(entity).length > 0 && <p class="notice">{words.lacks(missingIn(entity).join(', '))}</p>}
          <Section title={words.logo}>
            <LogoForm entity={entity} path={path} />
            <NewestInvoice code={entity.code} />
          </Section>
          <Section title={words.documentsSay}>
            <div class="card padded wide-form">
              {can('billing_entity', 'write') ? (
                <CommandForm
                  submit={t.page.save}
                  fields={issuerFields(entity)}
                  stored={{
                    path,
                    valuesOf: (answer: { billing_entity: Entity }) => issuerValues(answer.billing_entity),
                  }}
                  command={(values) => ({
                    method: 'PUT',
                    path,
                    body: { billing_entity: issuerBody(values, issuerValues(entity)) },
                  })}
                />
              ) : (
                <Facts of={issuerFields(entity).map(({ label, value }) => [label, value] as const)} />
              )}
            </div>
          </Section>
          <Section title={words.taxes}>
            <p>
              {(entity.taxes ?? []).length === 0
                ? words.noTaxOfEntity
                : (entity.taxes ?? []).map(({ name, rate }) => `${name}, ${rate} %`).join(' · ')}
            </p>
          </Section>
        </Page>
      )}
    </Shown>
  );
}

/** How its documents look: the newest one, as customers have it. */
function NewestInvoice({ code }: { code: string }) {
  const { data } = useRead<{ invoices: Invoice[] }>(
    can('invoice')
      ? `/invoices${searchOf({ billing_entity_codes: [code], status: 'finalized', per_page: 1, count: 'none' })}`
      : null,
  );
  const newest = data?.invoices[0];
  if (!newest) return null;
  return (
    <p class="bar after">
      {words.newestInvoice} <a href={to('invoices', newest.svc_id)}>{newest.number}</a>
      <Download path={`/invoices/${newest.svc_id}`} />
    </p>
  );
}

const chargesTaxes = (entity: Entity, path: string): Offer => ({
  text: words.chooseTaxes,
  submit: t.page.save,
  needs: 'billing_entity',
  about: words.chooseTaxesAbout,
  fields: [
    {
      name: 'tax_codes',
      label: words.taxCodes,
      value: textOfCodes((entity.taxes ?? []).map(({ code }) => code)),
      from: taxes,
      isMany: true,
    },
  ],
  command: ({ tax_codes }) => ({
    method: 'PUT',
    path,
    body: {
      billing_entity: {
        tax_codes: codesOf(tax_codes),
      },
    },
  }),
});

const archives = (entity: Entity, path: string): Offer | false =>
  !entity.is_default && {
    text: words.archive,
    needs: 'billing_entity',
    typed: entity.code,
    about: words.archiveAbout,
    command: () => ({ method: 'POST', path: `${path}/archive` }),
  };
