import { go, route, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Id } from '../../parts/copy.tsx';
import { Listing } from '../../parts/listing.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { SearchField, Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { AccessCheck } from './access-check.tsx';

const words = t.features;

export interface Privilege {
  code: string;
  name: string | null;
  value_type: 'integer' | 'boolean' | 'string' | 'select';
  config: { select_options?: string[] };
}

export interface Feature {
  code: string;
  name: string | null;
  description: string | null;
  privileges: Privilege[];
  usage_limits: { privilege_code: string; billable_metric_code: string; period: string }[];
  created_at: string;
}

export default function Features() {
  const { id } = route.value;
  return id === undefined ? <List /> : <FeaturePage key={id} code={id} />;
}

/** What may a customer of a plan use? */
function List() {
  return (
    <Page title={words.title} under={words.under} actions={<Offers of={[makes]} />}>
      <div class="bar">
        <SearchField label={words.search} />
      </div>
      <Listing<Feature>
        path="/features"
        root="features"
        filters={{ search_term: route.value.query.get('q') }}
        label={words.title}
        keyOf={({ code }) => code}
        columns={[
          { head: words.name, cell: ({ name, code }) => name ?? code },
          { head: words.code, cell: ({ code }) => <code>{code}</code> },
          {
            head: words.privileges,
            cell: ({ privileges }) => privileges.map((each) => each.name ?? each.code).join(', ') || '–',
            isExtra: true,
          },
          { head: words.description, cell: ({ description }) => description ?? '', isExtra: true },
        ]}
        href={({ code }) => to('features', code)}
        empty={{ title: words.none, children: <p class="soft">{words.noneHint}</p> }}
      />
    </Page>
  );
}

function FeaturePage({ code }: { code: string }) {
  const path = `/features/${encodeURIComponent(code)}`;
  const reading = useRead<{ feature: Feature }>(path);
  return (
    <Shown of={reading} rows={6}>
      {({ feature }) => (
        <Page
          title={feature.name ?? feature.code}
          back={{ href: to('features'), text: words.title }}
          under={<Id of={feature.code} />}
          actions={<Offers of={[edits(feature, path), deletes(feature, path)]} />}
        >
          <div class="card padded">
            <Facts
              of={[
                [words.description, feature.description],
                [t.page.made, <When at={feature.created_at} />],
              ]}
            />
          </div>
          <Section title={words.privileges} more={<Offers isSmall of={[addsPrivilege(feature, path)]} />}>
            {feature.privileges.length === 0 ? (
              <Empty title={words.noPrivileges}>
                <p class="soft">{words.noPrivilegesHint}</p>
              </Empty>
            ) : (
              <Table
                label={words.privileges}
                rows={feature.privileges}
                keyOf={(each) => each.code}
                columns={[
                  { head: words.name, cell: (each) => each.name ?? each.code },
                  { head: words.code, cell: (each) => <code>{each.code}</code>, isExtra: true },
                  {
                    head: words.valueType,
                    cell: ({ value_type, config }) => (
                      <>
                        <Badge of={value_type}>{words.types[value_type]}</Badge>
                        {config.select_options && <span class="second">{config.select_options.join(', ')}</span>}
                      </>
                    ),
                  },
                  {
                    head: words.limits,
                    cell: (each) =>
                      feature.usage_limits
                        .filter(({ privilege_code }) => privilege_code === each.code)
                        .map((limit) => words.limit(limit.billable_metric_code, limit.period))
                        .join(', ') || '–',
                    isExtra: true,
                  },
                  { head: t.page.do, cell: (each) => <Offers isSmall of={[removesPrivilege(each, path)]} /> },
                ]}
              />
            )}
          </Section>
          {can('access', 'write') && (
            <Section title={words.check}>
              <AccessCheck featureCode={feature.code} />
            </Section>
          )}
        </Page>
      )}
    </Shown>
  );
}

const fieldsOf = (feature?: Feature) => [
  { name: 'name', label: words.name, value: feature?.name ?? '' },
  { name: 'description', label: words.description, value: feature?.description ?? '' },
];

const makes: Offer = {
  text: words.new,
  submit: words.create,
  needs: 'feature',
  isMain: true,
  fields: [{ name: 'code', label: words.code, isNeeded: true, placeholder: 'seats' }, ...fieldsOf()],
  command: ({ code, name, description }) => ({
    method: 'POST',
    path: '/features',
    body: { feature: { code, name: name || null, description: description || null } },
  }),
  onDone: (answer) => {
    const made = (answer as { feature?: Feature }).feature;
    if (made) go(to('features', made.code));
  },
};

const edits = (feature: Feature, path: string): Offer => ({
  text: t.page.edit,
  title: words.edit,
  submit: t.page.save,
  needs: 'feature',
  fields: fieldsOf(feature),
  stored: {
    path,
    valuesOf: ({ feature: now }: { feature: Feature }) =>
      Object.fromEntries(fieldsOf(now).map(({ name, value }) => [name, value])),
  },
  command: ({ name, description }) => ({
    method: 'PUT',
    path,
    body: { feature: { name: name || null, description: description || null } },
  }),
});

const deletes = ({ code }: Feature, path: string): Offer => ({
  text: t.page.delete,
  title: words.delete,
  needs: 'feature',
  typed: code,
  about: words.deleteAbout,
  command: () => ({ method: 'DELETE', path }),
  onDone: () => go(to('features')),
});

const addsPrivilege = (feature: Feature, path: string): Offer => ({
  text: words.addPrivilege,
  needs: 'feature',
  fields: [
    { name: 'code', label: words.code, isNeeded: true, placeholder: 'max' },
    { name: 'name', label: words.name },
    {
      name: 'value_type',
      label: words.valueType,
      type: 'select',
      value: 'integer',
      options: (['integer', 'boolean', 'string', 'select'] as const).map((type) => [type, words.types[type]!] as const),
    },
    { name: 'options', label: words.options, hint: words.optionsHint },
  ],
  command: ({ code, name, value_type, options = '' }) => ({
    method: 'PUT',
    path,
    body: {
      feature: {
        privileges: [
          ...feature.privileges.map((each) => ({ ...each })),
          {
            code,
            name: name || null,
            value_type,
            ...(value_type === 'select'
              ? { config: { select_options: options.split(',').map((each) => each.trim()) } }
              : {}),
          },
        ],
      },
    },
  }),
});

const removesPrivilege = ({ code, name }: Privilege, path: string): Offer => ({
  text: words.removePrivilege,
  title: words.removeTitle(name ?? code),
  needs: 'feature',
  typed: code,
  about: words.removeAbout,
  command: () => ({ method: 'DELETE', path: `${path}/privileges/${encodeURIComponent(code)}` }),
});
