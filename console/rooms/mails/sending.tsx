import { useRead } from '../../frame/use-read.ts';
import { CommandForm, type Values } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import { kindOf } from './log.tsx';

const words = t.mails;

interface Settings {
  templates: Record<string, boolean>;
  trial_days: number;
}

/** The mails of the contract's setting, and what it calls each. */
const DOCUMENTS = {
  invoice: 'invoice.finalized',
  credit_note: 'credit_note.created',
  payment_receipt: 'payment_receipt.created',
} as const;
/** Sent to people of the organization, whatever is chosen. */
const ALWAYS = ['endpoint_disabled', 'key_created'];

/** Which mails customers of a billing entity get. */
export function Sending({ code }: { code: string }) {
  const entity = `/billing_entities/${encodeURIComponent(code)}`;
  const path = `${entity}/mail_settings`;
  const reading = useRead<{ mail_settings: Settings }>(path);
  return (
    <Shown of={reading} rows={8}>
      {({ mail_settings: settings }) => {
        const others = Object.keys(settings.templates).filter((name) => !(name in DOCUMENTS) && !ALWAYS.includes(name));
        return (
          <Section title={words.sending}>
            <div class="columns">
              <div class="card padded">
                <h3>{words.documentsSent}</h3>
                <CommandForm
                  submit={t.page.save}
                  fields={Object.keys(DOCUMENTS).map((name) => switchOf(name, settings))}
                  stored={{ path, valuesOf: (answer: { mail_settings: Settings }) => valuesOf(answer.mail_settings) }}
                  command={(values) => ({
                    method: 'PUT',
                    path: entity,
                    body: {
                      billing_entity: {
                        email_settings: Object.entries(DOCUMENTS).flatMap(([name, setting]) =>
                          values[name] === 'true' ? [setting] : [],
                        ),
                      },
                    },
                  })}
                />
              </div>
              <div class="card padded">
                <h3>{words.othersSent}</h3>
                <p class="soft">{words.alwaysSent}</p>
                <CommandForm
                  submit={t.page.save}
                  fields={[
                    ...others.map((name) => switchOf(name, settings)),
                    { name: 'trial_days', label: words.trialDays, type: 'number', value: String(settings.trial_days) },
                  ]}
                  stored={{ path, valuesOf: (answer: { mail_settings: Settings }) => valuesOf(answer.mail_settings) }}
                  command={(values) => ({
                    method: 'PUT',
                    path,
                    body: {
                      mail_settings: {
                        templates: Object.fromEntries(others.map((name) => [name, values[name] === 'true'])),
                        trial_days: Number(values.trial_days),
                      },
                    },
                  })}
                />
              </div>
            </div>
          </Section>
        );
      }}
    </Shown>
  );
}

const switchOf = (name: string, { templates }: Settings) => ({
  name,
  label: kindOf(name),
  type: 'checkbox' as const,
  value: String(templates[name]),
  hint: words.causes[name] ?? '',
});

const valuesOf = ({ templates, trial_days }: Settings): Values => ({
  ...Object.fromEntries(Object.entries(templates).map(([name, isOn]) => [name, String(isOn)])),
  trial_days: String(trial_days),
});
