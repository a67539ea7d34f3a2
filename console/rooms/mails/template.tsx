import { route, searchOf, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useAsked } from '../../frame/use-asked.ts';
import { useRead } from '../../frame/use-read.ts';
import { CommandForm, type Values } from '../../parts/form.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Page } from '../../parts/page.tsx';
import { Failure, Loading, Shown } from '../../parts/states.tsx';
import { Choices } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';
import { EntityChoice } from './entity-choice.tsx';
import { kindOf } from './log.tsx';
import { MailView } from './mail-view.tsx';
import { byEntity, type Template } from './records.ts';

const words = t.mails;

/** The words of one template in one language, beside the mail that they make. */
export function TemplatePage({ name }: { name: string }) {
  const { query } = route.value;
  const [locale, entity] = [query.get('lang') ?? 'en', query.get('entity') ?? undefined];
  const path = `/mail_templates/${encodeURIComponent(name)}/${encodeURIComponent(locale)}${searchOf(byEntity(entity))}`;
  const reading = useRead<{ mail_template: Template }>(path);
  return (
    <Shown of={reading} rows={8}>
      {({ mail_template: template }) => (
        <Page
          title={kindOf(name)}
          under={words.causes[name]}
          back={{ href: to('mails', 'templates', undefined, { entity }), text: words.templates }}
          actions={<Offers of={[tests(template, entity), resets(template, path)]} />}
        >
          <div class="bar">
            <Choices
              label={words.language}
              name="lang"
              options={Object.entries(words.languages).map(
                ([code, text]) => [code === 'en' ? '' : code, text] as const,
              )}
            />
            <EntityChoice />
          </div>
          <Editor
            key={`${path} ${JSON.stringify(template.overridden)}`}
            template={template}
            path={path}
            entity={entity}
          />
        </Page>
      )}
    </Shown>
  );
}

const PARTS = ['subject', 'intro', 'closing'] as const;

const valuesOf = ({ overridden }: Template): Values =>
  Object.fromEntries(PARTS.map((part) => [part, overridden?.[part] ?? '']));

/** An empty field stands for the built-in words. */
const wordsOf = (values: Values) =>
  Object.fromEntries(PARTS.map((part) => [part, values[part]?.trim() ? values[part] : null]));

function Editor({ template, path, entity }: { template: Template; path: string; entity: string | undefined }) {
  const { built_in, placeholders } = template;
  const stored = valuesOf(template);
  const preview = (values: Values) => <Preview template={template} entity={entity} values={values} />;
  if (!can('mail', 'write')) return preview(stored);
  return (
    <div class="beside">
      <CommandForm
        submit={t.page.save}
        fields={[
          { name: 'subject', label: words.subject, value: stored.subject, hint: words.emptyIs(built_in.subject) },
          {
            name: 'intro',
            label: words.above,
            type: 'textarea',
            value: stored.intro,
            hint: words.emptyIs(built_in.intro),
          },
          {
            name: 'closing',
            label: words.below,
            type: 'textarea',
            value: stored.closing,
            hint: words.emptyIs(built_in.closing),
          },
        ]}
        stored={{ path, valuesOf: (answer: { mail_template: Template }) => valuesOf(answer.mail_template) }}
        command={(values) => ({ method: 'PUT', path, body: { mail_template: wordsOf(values) } })}
      >
        {preview}
      </CommandForm>
      <p class="soft placeholders">
        {words.placeholders}:{' '}
        {placeholders.map((each) => (
          <code key={each}>{`{${each}}`}</code>
        ))}{' '}
        {words.placeholdersHint}
      </p>
    </div>
  );
}

/** The mail that the words make, of an example. */
function Preview({ template, entity, values }: { template: Template; entity: string | undefined; values: Values }) {
  const { data, error } = useAsked<{ preview: { subject: string; html: string; text: string } }>(
    `/mail_templates/${encodeURIComponent(template.name)}/preview`,
    { mail_template: { locale: template.locale, ...byEntity(entity), ...wordsOf(values) } },
  );
  return (
    <section class="preview" aria-label={words.preview}>
      {error && <Failure error={error} />}
      {data && (
        <>
          <h2 class="mail-subject" dir="auto">
            {data.preview.subject}
          </h2>
          <MailView html={data.preview.html} text={data.preview.text} />
        </>
      )}
      {!data && !error && <Loading rows={8} />}
    </section>
  );
}

const tests = ({ name, locale }: Template, entity: string | undefined): Offer => ({
  text: words.test,
  needs: 'mail',
  about: words.testAbout,
  fields: [{ name: 'to', label: words.testTo, type: 'email', isNeeded: true }],
  command: ({ to: address }) => ({
    method: 'POST',
    path: `/mail_templates/${encodeURIComponent(name)}/test`,
    body: { mail_template: { locale, ...byEntity(entity), to: address } },
  }),
});

const resets = ({ overridden }: Template, path: string): Offer | false =>
  overridden !== null && {
    text: words.reset,
    needs: 'mail',
    about: words.resetAbout,
    command: () => ({ method: 'DELETE', path }),
  };
