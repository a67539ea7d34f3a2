import { route, searchOf, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';
import { EntityChoice } from './entity-choice.tsx';
import { kindOf } from './log.tsx';
import { byEntity, type Template, useEntity } from './records.ts';

const words = t.mails;

/** What is mailed when, and in whose words. */
export function Templates() {
  const { code } = useEntity();
  const entity = route.value.query.get('entity') ?? undefined;
  const list = useRead<{ mail_templates: Template[] }>(`/mail_templates${searchOf(byEntity(entity))}`);
  const settings = useRead<{ mail_settings: { templates: Record<string, boolean> } }>(
    code === undefined ? null : `/billing_entities/${encodeURIComponent(code)}/mail_settings`,
  );
  return (
    <>
      <div class="bar">
        <EntityChoice />
      </div>
      <Shown of={list} rows={12}>
        {({ mail_templates }) => (
          <Table
            label={words.templates}
            rows={[...new Set(mail_templates.map(({ name }) => name))]}
            keyOf={(name) => name}
            href={(name) => to('mails', 'templates', name, { entity })}
            columns={[
              { head: words.kind, cell: kindOf },
              { head: words.sentWhen, cell: (name) => words.causes[name] ?? '', isExtra: true },
              {
                head: words.isSent,
                cell: (name) => {
                  const isOn = settings.data?.mail_settings.templates[name];
                  if (isOn === undefined) return <span class="soft">–</span>;
                  return <Badge of={isOn ? 'active' : 'off'}>{isOn ? words.on : words.off}</Badge>;
                },
              },
              {
                head: words.ownWords,
                cell: (name) => {
                  const own = mail_templates.filter((each) => each.name === name && each.overridden !== null);
                  if (own.length === 0) return <span class="soft">{words.builtIn}</span>;
                  return own.map(({ locale }) => words.languages[locale] ?? locale).join(', ');
                },
              },
            ]}
          />
        )}
      </Shown>
    </>
  );
}
