import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { CommandForm } from '../../parts/form.tsx';
import { Facts } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';

const words = t.settings;

type Days = Record<string, number | null>;

const valuesOf = (retention: Days) =>
  Object.fromEntries(Object.entries(retention).map(([name, days]) => [name, days === null ? '' : String(days)]));

/** How long rows are kept. */
export function Retention() {
  const reading = useRead<{ retention: Days }>('/retention');
  const labelOf = (name: string) => words.kept[name] ?? name.replaceAll('_', ' ');
  return (
    <Shown of={reading} rows={6}>
      {({ retention }) => (
        <div class="card padded wide-form">
          {can('retention', 'write') ? (
            <CommandForm
              submit={t.page.save}
              stored={{ path: '/retention', valuesOf: (answer: { retention: Days }) => valuesOf(answer.retention) }}
              fields={Object.entries(retention).map(([name, days]) => ({
                name,
                label: labelOf(name),
                type: 'number' as const,
                value: days === null ? '' : String(days),
                hint: days === null ? words.forEver : words.days,
              }))}
              command={(values) => ({
                method: 'PUT',
                path: '/retention',
                body: {
                  retention: Object.fromEntries(
                    Object.entries(values)
                      .filter(([name, text]) => text !== valuesOf(retention)[name])
                      .map(([name, text]) => [name, /^\d{1,6}$/.test(text) ? Number(text) : text]),
                  ),
                },
              })}
            />
          ) : (
            <Facts
              of={Object.entries(retention).map(
                ([name, days]) => [labelOf(name), days === null ? words.forEver : words.ofDays(days)] as const,
              )}
            />
          )}
        </div>
      )}
    </Shown>
  );
}
