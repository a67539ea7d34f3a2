import { can } from '../frame/session.ts';
import { Choice, type ChoiceOf, Picks, RecordChoice } from './choices.tsx';
import type { Option } from './combobox.tsx';
import type { Source } from './sources.ts';

export interface Field {
  name: string;
  label: string;
  type?:
    | 'text'
    | 'number'
    | 'email'
    | 'date'
    | 'datetime-local'
    | 'textarea'
    | 'checkbox'
    | 'select'
    | 'secret'
    | 'color';
  options?: readonly (readonly [value: string, text: string])[];
  /** One of these, found by name or code. */
  choices?: () => readonly Option[];
  /** A record of the API; `isMany`: any number of them, as `codesOf` reads them. */
  from?: Source;
  isMany?: boolean;
  /** What the record is called that stands there at first. */
  called?: string | undefined;
  value?: string;
  hint?: string;
  isNeeded?: boolean;
  placeholder?: string;
}

/** A field with its label, its hint and what is wrong with it. */
export function FieldInput({
  field,
  value,
  fault,
  onInput,
}: {
  field: Field;
  value: string;
  fault?: string | undefined;
  onInput: (text: string) => void;
}) {
  const { name, label, type = 'text', options = [], hint, isNeeded, placeholder } = field;
  const id = `field-${name}`;
  const common = {
    id,
    name,
    'aria-invalid': fault !== undefined,
    'aria-describedby': fault !== undefined || hint !== undefined ? `${id}-note` : undefined,
    required: isNeeded,
  };
  const choice: ChoiceOf = {
    id,
    name,
    value,
    onInput,
    placeholder,
    required: isNeeded,
    isInvalid: fault !== undefined,
    describedBy: common['aria-describedby'],
  };
  const { choices, from, isMany } = field;
  const set = (event: { currentTarget: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement }) =>
    onInput(event.currentTarget.value);
  return (
    <div class={type === 'checkbox' ? 'field check' : 'field'}>
      <label for={id}>{label}</label>
      {choices ? (
        <Choice {...choice} of={choices()} />
      ) : from && isMany ? (
        <Picks {...choice} from={from} />
      ) : from && can(from.needs) ? (
        <RecordChoice {...choice} from={from} called={field.called} />
      ) : type === 'select' ? (
        <select {...common} value={value} onChange={set}>
          {options.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      ) : type === 'textarea' ? (
        <textarea {...common} rows={4} value={value} onInput={set} />
      ) : type === 'checkbox' ? (
        <input
          {...common}
          type="checkbox"
          checked={value === 'true'}
          onChange={(event) => onInput(String(event.currentTarget.checked))}
        />
      ) : (
        <input
          {...common}
          type={(type === 'number' ? 'text' : type === 'secret' ? 'password' : type) as 'text'}
          inputMode={type === 'number' ? 'decimal' : undefined}
          step={type === 'datetime-local' ? 1 : undefined}
          value={value}
          placeholder={placeholder}
          autocomplete="off"
          onInput={set}
        />
      )}
      {(fault !== undefined || hint !== undefined) && (
        <span id={`${id}-note`} class={fault === undefined ? 'soft' : 'fault'}>
          {fault ?? hint}
        </span>
      )}
    </div>
  );
}
