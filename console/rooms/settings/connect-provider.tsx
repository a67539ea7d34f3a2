import { useSignal } from '@preact/signals';
import { organization } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { type Field, FieldInput } from '../../parts/field.tsx';
import { CommandForm } from '../../parts/form.tsx';
import { Shown } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';

const words = t.settings;

interface ProviderType {
  type: string;
  sandbox_only: boolean;
  secrets: { name: string; mandatory: boolean }[];
  settings: { name: string; mandatory: boolean }[];
}

/** A protocol of the seller's own: what it can do is a list that its documentation explains. */
const BY_API = 'custom';

const CHOICES: Record<string, readonly (readonly [string, string])[]> = {
  environment: [
    ['live', words.live],
    ['sandbox', words.testMoney],
  ],
  settle_on: [
    ['paid_out', words.whenPaidOut],
    ['confirmed', words.whenConfirmed],
  ],
};
const FLAGS = ['supports_3ds', 'require_terms_of_service_consent'];

/** What a type of connection is called: its own name, but for those that are ours. */
export const providerName = (type: string): string =>
  words.providerNames[type] ?? type.charAt(0).toUpperCase() + type.slice(1);
const labelOf = (name: string) => words.providerFields[name] ?? name.replaceAll('_', ' ');

/** Connects a provider: which one is asked first, then what it needs. */
export function ConnectProvider({ onClose }: { onClose: () => void }) {
  const reading = useRead<{ payment_provider_types: ProviderType[] }>('/payment_providers/types');
  const chosen = useSignal('');
  return (
    <Dialog title={words.connect} onClose={onClose}>
      <Shown of={reading} rows={2}>
        {({ payment_provider_types: all }) => {
          const types = all.filter(({ sandbox_only }) => !sandbox_only || organization.value?.sandbox);
          const type = types.find((each) => each.type === chosen.value) ?? types[0]!;
          return (
            <>
              <FieldInput
                field={{
                  name: 'type',
                  label: words.chooseProvider,
                  type: 'select',
                  options: types.map((each) => [each.type, providerName(each.type)] as const),
                }}
                value={type.type}
                onInput={(text) => {
                  chosen.value = text;
                }}
              />
              {type.type === BY_API ? (
                <p class="notice">
                  {words.ownProvider} <a href="/docs/guide/own-provider">{words.ownProviderGuide}</a>
                </p>
              ) : (
                <TypeForm key={type.type} of={type} onClose={onClose} />
              )}
            </>
          );
        }}
      </Shown>
    </Dialog>
  );
}

function TypeForm({ of: { type, secrets, settings }, onClose }: { of: ProviderType; onClose: () => void }) {
  const fields: Field[] = [
    { name: 'name', label: words.name, value: providerName(type), isNeeded: true },
    { name: 'code', label: words.code, value: type, isNeeded: true, hint: words.providerCodeHint },
    ...secrets.map(({ name, mandatory }) => ({
      name,
      label: labelOf(name),
      type: 'secret' as const,
      isNeeded: mandatory,
    })),
    ...settings.map(({ name, mandatory }) => ({
      name,
      label: labelOf(name),
      isNeeded: mandatory,
      ...(CHOICES[name] ? { type: 'select' as const, options: CHOICES[name], value: CHOICES[name][0]![0] } : {}),
      ...(FLAGS.includes(name) ? { type: 'checkbox' as const, value: 'false' } : {}),
    })),
  ];
  return (
    <CommandForm
      submit={words.connectTitle(providerName(type))}
      fields={fields}
      onCancel={onClose}
      command={(values) => ({
        method: 'POST',
        path: '/payment_providers',
        body: {
          payment_provider: {
            type,
            ...Object.fromEntries(
              Object.entries(values)
                .filter(([, text]) => text !== '')
                .map(([name, text]) => [name, FLAGS.includes(name) ? text === 'true' : text]),
            ),
          },
        },
      })}
      onDone={onClose}
    >
      <p class="soft">{words.connectAbout}</p>
    </CommandForm>
  );
}
