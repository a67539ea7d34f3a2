import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { can } from '../frame/session.ts';
import { useRead } from '../frame/use-read.ts';
import { t } from '../texts/en.ts';
import { Combobox, type ComboboxOf, type Option, shownOf } from './combobox.tsx';
import type { Source } from './sources.ts';

type InputOf = Pick<ComboboxOf, 'id' | 'name' | 'placeholder' | 'required' | 'isInvalid' | 'describedBy'>;

export interface ChoiceOf extends InputOf {
  value: string;
  /** Each value that is typed, and the one that is chosen at last. */
  onInput: (value: string, isChosen: boolean) => void;
}

/** One of a list that is known: a country, a currency, a time zone. */
export function Choice({ value, onInput, of, ...input }: ChoiceOf & { of: readonly Option[] }) {
  const chosen = of.find((option) => option.value === value);
  return (
    <Combobox
      {...input}
      options={of}
      shown={chosen ? shownOf(chosen) : value}
      onType={(typed, named) => {
        if (typed.trim() === '') onInput('', false);
        else if (named) onInput(named.value, false);
      }}
      onChoose={(option) => onInput(option.value, true)}
    />
  );
}

const TYPE_PAUSE_MS = 200;

/** A record that the API finds by name or id. What is typed stands as it is, so that an id may also be pasted. */
export function RecordChoice({
  value,
  onInput,
  from,
  called,
  ...input
}: ChoiceOf & {
  from: Source;
  /** What the value is called that stands there at first. */
  called?: string | undefined;
}) {
  const isOpened = useSignal(value !== '' && called === undefined);
  const typed = useSignal('');
  const asked = useSignal('');
  const known = useRef<readonly Option[]>([]);
  const chosen = useRef<Option | undefined>(called === undefined ? undefined : { value, text: called });
  useEffect(() => {
    const timer = setTimeout(() => {
      asked.value = typed.value.trim();
    }, TYPE_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed.value]);
  const path = from.pathOf(asked.value);
  const { data } = useRead<never>(isOpened.value ? path : null);
  if (data) known.current = from.optionsOf(data);
  const named = [chosen.current, ...known.current].find((option) => option?.value === value);
  return (
    <Combobox
      {...input}
      options={known.current}
      areFound={data !== undefined && asked.value === typed.value.trim() && from.pathOf('') !== path}
      areLoading={data === undefined}
      isFree
      shown={named ? shownOf(named) : value}
      onOpen={() => {
        isOpened.value = true;
      }}
      onType={(text, option) => {
        typed.value = text;
        chosen.current = option;
        onInput(option?.value ?? text.trim(), false);
      }}
      onChoose={(option) => {
        typed.value = '';
        chosen.current = option;
        onInput(option.value, true);
      }}
    />
  );
}

/** Codes of a list in the text of a field. */
export const codesOf = (text: string | undefined): string[] => (text ? text.split('\n') : []);
export const textOfCodes = (codes: readonly string[]): string => codes.join('\n');

/** Any number of records of a list that is short, such as taxes; each can be taken away again. */
export function Picks({ value, onInput, from, ...input }: ChoiceOf & { from: Source }) {
  const { data } = useRead<never>(can(from.needs) ? from.pathOf('') : null);
  const options = data ? from.optionsOf(data) : [];
  const codes = codesOf(value);
  return (
    <div class="picks">
      {codes.length > 0 && (
        <p class="chips">
          {codes.map((code) => (
            <button
              key={code}
              type="button"
              class="chip"
              onClick={() => onInput(textOfCodes(codes.filter((each) => each !== code)), true)}
            >
              {options.find((option) => option.value === code)?.text ?? code} <span aria-hidden="true">✕</span>
              <span class="unseen">{t.list.remove}</span>
            </button>
          ))}
        </p>
      )}
      <Combobox
        {...input}
        placeholder={t.parts.add}
        options={options.filter((option) => !codes.includes(option.value))}
        shown=""
        onChoose={(option) => onInput(textOfCodes([...codes, option.value]), true)}
      />
    </div>
  );
}
