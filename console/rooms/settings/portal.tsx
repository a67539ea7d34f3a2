import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import type { Field } from '../../parts/field.tsx';
import { CommandForm, type Values } from '../../parts/form.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { Loading, Shown } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import { EntityChoice } from '../mails/entity-choice.tsx';
import { useEntity } from '../mails/records.ts';

const words = t.settings.portalOf;

interface Portal {
  accent_color: string;
  show: Record<string, boolean>;
  allow: Record<string, boolean>;
  billing_data_fields: string[];
  embed_origins: string[];
  support_url: string | null;
  terms_url: string | null;
  privacy_url: string | null;
  hide_product_name: boolean;
}

/** One form: its fields, and the part of the settings that they make. */
interface Part {
  title: string;
  about: string;
  fieldsOf: (portal: Portal) => Field[];
  bodyOf: (values: Values) => Record<string, unknown>;
}

const LINKS = ['support_url', 'terms_url', 'privacy_url'] as const;

const flags = (texts: Record<string, string>, isOn: (name: string) => boolean): Field[] =>
  Object.entries(texts).map(([name, label]) => ({ name, label, type: 'checkbox', value: String(isOn(name)) }));

const flagsOf = (texts: Record<string, string>, values: Values) =>
  Object.fromEntries(Object.keys(texts).map((name) => [name, values[name] === 'true']));

/** A line each; blank ones are none. */
const lines = (text = ''): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const PARTS: readonly Part[] = [
  {
    title: words.looks,
    about: words.looksAbout,
    fieldsOf: (portal) => [
      { name: 'accent_color', label: words.accent, type: 'color', value: portal.accent_color },
      {
        name: 'hide_product_name',
        label: words.hideName,
        type: 'checkbox',
        value: String(portal.hide_product_name),
      },
      ...LINKS.map((name) => ({ name, label: words.links[name]!, value: portal[name] ?? '', placeholder: 'https://' })),
    ],
    bodyOf: (values) => ({
      accent_color: values.accent_color,
      hide_product_name: values.hide_product_name === 'true',
      ...Object.fromEntries(LINKS.map((name) => [name, values[name] || null])),
    }),
  },
  {
    title: words.shows,
    about: words.showsAbout,
    fieldsOf: ({ show }) => flags(words.show, (name) => show[name] === true),
    bodyOf: (values) => ({ show: flagsOf(words.show, values) }),
  },
  {
    title: words.allows,
    about: words.allowsAbout,
    fieldsOf: ({ allow }) => flags(words.allow, (name) => allow[name] === true),
    bodyOf: (values) => ({ allow: flagsOf(words.allow, values) }),
  },
  {
    title: words.fields,
    about: words.fieldsAbout,
    fieldsOf: ({ billing_data_fields: listed }) => flags(words.field, (name) => listed.includes(name)),
    bodyOf: (values) => ({
      billing_data_fields: Object.keys(words.field).filter((name) => values[name] === 'true'),
    }),
  },
  {
    title: words.frames,
    about: words.framesAbout,
    fieldsOf: ({ embed_origins }) => [
      {
        name: 'embed_origins',
        label: words.origins,
        type: 'textarea',
        value: embed_origins.join('\n'),
        hint: words.originsHint,
      },
    ],
    bodyOf: ({ embed_origins }) => ({ embed_origins: lines(embed_origins) }),
  },
];

/** How the pages of customers look, what they show, and what may be done there; one billing entity at a time. */
export function PortalSettings() {
  const { code } = useEntity();
  if (code === undefined) return <Loading rows={8} />;
  return (
    <>
      <div class="bar">
        <EntityChoice />
      </div>
      <PortalOf key={code} code={code} />
    </>
  );
}

function PortalOf({ code }: { code: string }) {
  const path = `/billing_entities/${encodeURIComponent(code)}/portal`;
  const reading = useRead<{ portal: Portal }>(path);
  return (
    <Shown of={reading} rows={8}>
      {({ portal }) => (
        <>
          {PARTS.map((part) => (
            <Section key={part.title} title={part.title}>
              <div class="card padded wide-form">
                <p class="soft">{part.about}</p>
                <PartForm of={part} portal={portal} path={path} />
              </div>
            </Section>
          ))}
        </>
      )}
    </Shown>
  );
}

const shown = ({ type, value }: Field) => (type === 'checkbox' ? (value === 'true' ? words.yes : words.no) : value);

function PartForm({ of: { fieldsOf, bodyOf }, portal, path }: { of: Part; portal: Portal; path: string }) {
  if (!can('billing_entity', 'write'))
    return <Facts of={fieldsOf(portal).map((field) => [field.label, shown(field)] as const)} />;
  return (
    <CommandForm
      submit={t.page.save}
      fields={fieldsOf(portal)}
      stored={{
        path,
        valuesOf: (answer: { portal: Portal }) =>
          Object.fromEntries(fieldsOf(answer.portal).map(({ name, value = '' }) => [name, value])),
      }}
      command={(values) => ({ method: 'PUT', path, body: { portal: bodyOf(values) } })}
    />
  );
}
