import { route } from '../../frame/route.ts';
import { Listing } from '../../parts/listing.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { SearchField } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';

const words = t.settings;

interface CustomSection {
  svc_id: string;
  code: string;
  name: string;
  description: string | null;
  details: string | null;
  display_name: string | null;
}

const pathOf = (code: string) => `/invoice_custom_sections/${encodeURIComponent(code)}`;

const fieldsOf = (section?: CustomSection) => [
  { name: 'name', label: words.name, value: section?.name ?? '', isNeeded: true, hint: words.sectionNameHint },
  { name: 'code', label: words.code, value: section?.code ?? '', isNeeded: true },
  { name: 'display_name', label: words.sectionTitle, value: section?.display_name ?? '' },
  { name: 'details', label: words.sectionText, type: 'textarea' as const, value: section?.details ?? '' },
  { name: 'description', label: words.description, value: section?.description ?? '', hint: words.notPrinted },
];

const bodyOf = ({ name, code, ...texts }: Record<string, string>) => ({
  invoice_custom_section: {
    name,
    code,
    ...Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, text || null])),
  },
});

const makes: Offer = {
  text: words.newSection,
  submit: words.createSection,
  needs: 'invoice_custom_section',
  fields: fieldsOf(),
  command: (values) => ({ method: 'POST', path: '/invoice_custom_sections', body: bodyOf(values) }),
};

const changes = (section: CustomSection): Offer[] => [
  {
    text: t.page.edit,
    title: words.editSection,
    submit: t.page.save,
    needs: 'invoice_custom_section',
    fields: fieldsOf(section),
    stored: {
      path: pathOf(section.code),
      valuesOf: ({ invoice_custom_section: now }: { invoice_custom_section: CustomSection }) =>
        Object.fromEntries(fieldsOf(now).map(({ name, value }) => [name, value])),
    },
    command: (values) => ({ method: 'PUT', path: pathOf(section.code), body: bodyOf(values) }),
  },
  {
    text: t.page.delete,
    title: words.deleteSection,
    needs: 'invoice_custom_section',
    typed: section.code,
    about: words.deleteSectionAbout,
    command: () => ({ method: 'DELETE', path: pathOf(section.code) }),
  },
];

/** Texts that invoices carry beside their lines. */
export function CustomSections() {
  return (
    <>
      <div class="bar">
        <Offers of={[makes]} />
        <SearchField label={words.findSection} name="section" />
      </div>
      <Listing<CustomSection>
        path="/invoice_custom_sections"
        root="invoice_custom_sections"
        filters={{ search_term: route.value.query.get('section') }}
        label={words.sections}
        columns={[
          { head: words.name, cell: ({ name }) => name },
          { head: words.code, cell: ({ code }) => <code>{code}</code> },
          {
            head: words.sectionText,
            cell: ({ display_name, details }) => (
              <>
                {display_name && <b>{display_name} </b>}
                {details}
              </>
            ),
            isExtra: true,
          },
          {
            head: t.page.do,
            cell: (section) => (
              <span class="actions">
                <Offers isSmall of={changes(section)} />
              </span>
            ),
          },
        ]}
        empty={{ title: words.noSections, children: <p class="soft">{words.noSectionsHint}</p> }}
      />
    </>
  );
}
