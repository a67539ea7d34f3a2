import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { ApiError, newKey, write } from '../frame/api.ts';
import { announce } from '../frame/live-region.tsx';
import { readAllAgain } from '../frame/use-read.ts';
import { CurlLine } from './curl-line.tsx';
import { Dialog } from './dialog.tsx';
import { sentenceOf } from './states.tsx';

export interface Command {
  method: 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: unknown;
}

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

/**
 * A form of one write in a window. It takes its Idempotency-Key when it opens, shows its request while it is filled in,
 * and sets refused fields beside their inputs. With `typed` the person types a word before what cannot be undone.
 */
export function FormDialog({
  title,
  fields = [],
  command,
  submit,
  typed,
  children,
  onClose,
  onDone,
}: {
  title: string;
  fields?: readonly Field[];
  command: (values: Record<string, string>) => Command;
  submit: string;
  typed?: string;
  children?: ComponentChildren;
  onClose: () => void;
  onDone?: (answer: Record<string, never>) => void;
}) {
  const key = useMemo(newKey, []);
  const form = useRef<HTMLFormElement>(null);
  const values = useSignal<Record<string, string>>(
    Object.fromEntries(fields.map(({ name, value }) => [name, value ?? ''])),
  );
  const error = useSignal<ApiError | undefined>(undefined);
  const isSending = useSignal(false);
  const confirmed = useSignal('');
  const request = command(values.value);
  const refused = error.value ? flat(error.value.details) : {};
  const known = new Set(fields.map(({ name }) => name));
  const others = Object.entries(refused).filter(([name]) => !known.has(name));

  const send = async (event: Event) => {
    event.preventDefault();
    if (isSending.value) return;
    isSending.value = true;
    error.value = undefined;
    try {
      const answer = await write<Record<string, never>>(request.method, request.path, request.body, key);
      await readAllAgain();
      announce('Done');
      onClose();
      onDone?.(answer);
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      error.value = caught;
      setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
    } finally {
      isSending.value = false;
    }
  };

  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <form ref={form} onSubmit={(event) => void send(event)}>
        {error.value && (
          <div class="notice bad" role="alert">
            <p>{Object.keys(refused).length > 0 ? 'Some values were refused.' : sentenceOf(error.value)}</p>
            {others.map(([name, codes]) => (
              <p key={name}>
                <code>{name}</code>: {codes}
              </p>
            ))}
            {error.value.code && error.value.status !== 422 && <code>{error.value.code}</code>}
          </div>
        )}
        {fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={values.value[field.name] ?? ''}
            fault={refused[field.name]}
            onInput={(text) => {
              values.value = { ...values.value, [field.name]: text };
            }}
          />
        ))}
        {typed !== undefined && (
          <label class="field">
            <span>
              Type <b>{typed}</b> to go on
            </span>
            <input
              value={confirmed.value}
              autocomplete="off"
              onInput={(event) => {
                confirmed.value = event.currentTarget.value;
              }}
            />
          </label>
        )}
        <details class="request">
          <summary>The request</summary>
          <CurlLine request={request} />
        </details>
        <div class="actions">
          <button type="button" class="quiet" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={typed === undefined ? 'main' : 'main danger'}
            disabled={isSending.value || (typed !== undefined && confirmed.value.trim() !== typed)}
          >
            {isSending.value ? 'Sending …' : submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

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

/** Codes by field as one text each. */
function flat(details: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).map(([name, codes]) => [
      name,
      (Array.isArray(codes) ? codes : [codes])
        .map((code) => (typeof code === 'string' ? code : JSON.stringify(code)).replaceAll('_', ' '))
        .join(', '),
    ]),
  );
}

/** A button that opens a form. */
export function Action({
  text,
  isMain = false,
  children,
}: {
  text: string;
  isMain?: boolean;
  children: (close: () => void) => ComponentChildren;
}) {
  const isOpen = useSignal(false);
  const close = () => {
    isOpen.value = false;
  };
  return (
    <>
      <button
        type="button"
        class={isMain ? 'main' : ''}
        onClick={() => {
          isOpen.value = true;
        }}
      >
        {text}
      </button>
      {isOpen.value && children(close)}
    </>
  );
}
