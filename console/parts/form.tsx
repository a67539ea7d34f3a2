import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { ApiError, newKey, read, write } from '../frame/api.ts';
import { isClockAdvancing } from '../frame/clock-state.ts';
import { announce } from '../frame/live-region.tsx';
import { readAllAgain } from '../frame/use-read.ts';
import { t } from '../texts/en.ts';
import { CurlLine } from './curl-line.tsx';
import { Dialog } from './dialog.tsx';
import { faultWords } from './fault-words.ts';
import { type Field, FieldInput } from './field.tsx';
import { sentenceOf } from './states.tsx';

export interface Command {
  method: 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: unknown;
}

export type Values = Record<string, string>;

/** What a form does: its fields, the command that they make, and what stands around them. */
export interface FormOf {
  submit: string;
  fields?: readonly Field[];
  command: (values: Values) => Command;
  /** A word that is typed before what cannot be undone. */
  typed?: string | undefined;
  /** What it does, above the fields; a function shows the effect of what is typed. */
  children?: ComponentChildren | ((values: Values) => ComponentChildren);
  onDone?: ((answer: Record<string, never>) => void) | undefined;
  /** The record as it is stored: it is read again before it is changed. Rule: console.md#writes. */
  stored?: { path: string; valuesOf: (answer: never) => Values };
}

/**
 * A form of one write. It takes its Idempotency-Key when it opens, shows its request while it is filled in, and sets
 * refused fields beside their inputs.
 */
export function CommandForm({
  submit,
  fields = [],
  command,
  typed,
  children,
  onDone,
  stored,
  onCancel,
}: FormOf & { onCancel?: () => void }) {
  const key = useSignal(useMemo(newKey, []));
  const form = useRef<HTMLFormElement>(null);
  const first = useMemo(() => Object.fromEntries(fields.map(({ name, value }) => [name, value ?? ''])), []);
  const values = useSignal<Values>(first);
  const seen = useSignal<Values>(first);
  const others = useSignal<Values>({});
  const error = useSignal<ApiError | undefined>(undefined);
  const isSending = useSignal(false);
  const confirmed = useSignal('');
  const request = command(values.value);
  const refused = error.value ? flat(error.value.details) : {};
  const known = new Set(fields.map(({ name }) => name));

  const send = async (event: Event) => {
    event.preventDefault();
    if (isSending.value) return;
    isSending.value = true;
    error.value = undefined;
    try {
      if (stored && (await hasChanged(stored, seen, others))) return;
      const answer = await write<Record<string, never>>(request.method, request.path, request.body, key.value);
      await readAllAgain();
      announce(t.form.done);
      key.value = newKey();
      seen.value = values.value;
      others.value = {};
      onDone?.(answer);
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      error.value = caught;
      // What was refused is another write once it is mended; without an answer it may have been done.
      if (caught.status >= 400 && caught.status < 500) key.value = newKey();
      setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
    } finally {
      isSending.value = false;
    }
  };

  return (
    <>
      {typeof children === 'function' ? children(values.value) : children}
      <form ref={form} onSubmit={(event) => void send(event)}>
        {error.value && <Refused error={error.value} faults={refused} known={known} />}
        {Object.keys(others.value).length > 0 && (
          <div class="notice" role="alert">
            <p>{t.form.changedMeanwhile}</p>
            {Object.entries(others.value).map(([name, value]) => (
              <p key={name}>
                {fields.find((field) => field.name === name)?.label}: <b>{value || '–'}</b>
              </p>
            ))}
          </div>
        )}
        <div class="fields">
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
        </div>
        {typed !== undefined && (
          <label class="field">
            <span>
              {t.form.typeBefore} <b>{typed}</b> {t.form.typeAfter}
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
          <summary>{t.form.request}</summary>
          <CurlLine request={command(withoutSecrets(fields, values.value))} />
        </details>
        <div class="actions">
          {onCancel && (
            <button type="button" class="quiet" onClick={onCancel}>
              {t.form.cancel}
            </button>
          )}
          <button
            type="submit"
            class={typed === undefined ? 'main' : 'main danger'}
            disabled={
              isSending.value || isClockAdvancing.value || (typed !== undefined && confirmed.value.trim() !== typed)
            }
            title={isClockAdvancing.value ? t.parts.clockAdvancing : undefined}
          >
            {isSending.value ? t.form.sending : submit}
          </button>
        </div>
      </form>
    </>
  );
}

/** The same in a window, which closes when it is done. */
export function FormDialog({ title, onClose, onDone, ...form }: FormOf & { title: string; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose}>
      <CommandForm
        {...form}
        onCancel={onClose}
        onDone={(answer) => {
          onClose();
          onDone?.(answer);
        }}
      />
    </Dialog>
  );
}

/** Whether somebody else has changed the record since the form was filled in: what they changed is then shown once. */
async function hasChanged(
  { path, valuesOf }: NonNullable<FormOf['stored']>,
  seen: Signal<Values>,
  others: Signal<Values>,
): Promise<boolean> {
  const now = valuesOf(await read<never>(path));
  const changed = Object.entries(now).filter(([name, value]) => name in seen.value && value !== seen.value[name]);
  seen.value = { ...seen.value, ...now };
  others.value = Object.fromEntries(changed);
  return changed.length > 0;
}

function Refused({ error, faults, known }: { error: ApiError; faults: Values; known: ReadonlySet<string> }) {
  const others = Object.entries(faults).filter(([name]) => !known.has(name));
  return (
    <div class="notice bad" role="alert">
      <p>{Object.keys(faults).length > 0 ? t.form.refused : sentenceOf(error)}</p>
      {others.map(([name, codes]) => (
        <p key={name}>
          <code>{name}</code>: {codes}
        </p>
      ))}
      {error.code && error.status !== 422 && <code>{error.code}</code>}
    </div>
  );
}

/** Secrets that were typed stand as `$SECRET` in the line that is shown. Rule: console.md#curl-lines. */
const withoutSecrets = (fields: readonly Field[], values: Values): Values => ({
  ...values,
  ...Object.fromEntries(
    fields.filter(({ name, type }) => type === 'secret' && values[name]).map(({ name }) => [name, '$SECRET']),
  ),
});

/** Codes by field as one text each. */
function flat(details: Record<string, unknown>): Values {
  return Object.fromEntries(
    Object.entries(details).map(([name, codes]) => [name, [codes].flat().map(faultWords).join(', ')]),
  );
}

/** A button that opens a form. While the clock of the sandbox moves it says why nothing can be written. */
export function Action({
  text,
  isMain = false,
  isSmall = false,
  children,
}: {
  text: string;
  isMain?: boolean;
  isSmall?: boolean;
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
        class={`${isMain ? 'main' : ''} ${isSmall ? 'small' : ''}`.trim()}
        disabled={isClockAdvancing.value}
        title={isClockAdvancing.value ? t.parts.clockAdvancing : undefined}
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
