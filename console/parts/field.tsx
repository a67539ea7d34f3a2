export interface Field {
  name: string;
  label: string;
  type?: 'text' | 'number' | 'email' | 'date' | 'datetime-local' | 'textarea' | 'checkbox' | 'select';
  options?: readonly (readonly [value: string, text: string])[];
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
  const set = (event: { currentTarget: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement }) =>
    onInput(event.currentTarget.value);
  return (
    <div class={type === 'checkbox' ? 'field check' : 'field'}>
      <label for={id}>{label}</label>
      {type === 'select' ? (
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
          type={(type === 'number' ? 'text' : type) as 'text'}
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
