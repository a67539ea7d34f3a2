import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { t } from '../texts/en.ts';

/** Something that can be chosen: its name, and beside it what tells it from others of the name. */
export interface Option {
  value: string;
  text: string;
  note?: string | undefined;
}

/** More are found by typing. */
const MOST_SHOWN = 50;

export interface ComboboxOf {
  id: string;
  name: string;
  options: readonly Option[];
  /** The options are what a search found for the text; else they are narrowed down to what contains it. */
  areFound?: boolean | undefined;
  areLoading?: boolean | undefined;
  /** Whether a text that names no option may stay. */
  isFree?: boolean | undefined;
  /** What stands in the field while nothing is typed. */
  shown: string;
  placeholder?: string | undefined;
  required?: boolean | undefined;
  isInvalid?: boolean | undefined;
  describedBy?: string | undefined;
  /** Each text that is typed, with the option that it names, if it names one. */
  onType?: (typed: string, named: Option | undefined) => void;
  onOpen?: () => void;
  /** Chosen by Enter, by a click, or by leaving the field with a text that can mean only this one. */
  onChoose: (option: Option) => void;
}

/** A field that finds an option by its name or its code. Arrows and Enter choose, Escape closes the list. */
export function Combobox({
  id,
  name,
  options,
  areFound = false,
  areLoading = false,
  isFree = false,
  shown,
  onType,
  onOpen,
  onChoose,
  ...rest
}: ComboboxOf) {
  const typed = useSignal<string | undefined>(undefined);
  const isOpen = useSignal(false);
  const at = useSignal(0);
  const list = useRef<HTMLUListElement>(null);
  const hits = areFound ? options : hitsOf(options, typed.value ?? '');
  const named = typed.value === undefined ? undefined : namedBy(typed.value, options);
  // Nothing is left to find, and the list would cover what comes next in the form.
  const isSettled = named !== undefined && (isFree || hits.length === 1);
  const isShown = isOpen.value && !isSettled;
  const open = () => {
    if (isOpen.value) return;
    isOpen.value = true;
    at.value = Math.max(0, typed.value === undefined ? hits.findIndex((each) => shownOf(each) === shown) : 0);
    onOpen?.();
    setTimeout(() => list.current?.scrollIntoView?.({ block: 'nearest' }));
  };
  const close = () => {
    isOpen.value = false;
    typed.value = undefined;
  };
  const choose = (option: Option) => {
    onChoose(option);
    close();
  };
  return (
    <div class="combobox">
      <input
        id={id}
        name={name}
        type="text"
        role="combobox"
        aria-expanded={isShown}
        aria-controls={isShown ? `${id}-list` : undefined}
        aria-activedescendant={isShown && hits[at.value] ? `${id}-${at.value}` : undefined}
        aria-autocomplete="list"
        aria-invalid={rest.isInvalid === true}
        aria-describedby={rest.describedBy}
        required={rest.required}
        placeholder={rest.placeholder}
        autocomplete="off"
        spellcheck={false}
        value={typed.value ?? shown}
        onFocus={(event) => event.currentTarget.select()}
        onClick={open}
        onInput={(event) => {
          const text = event.currentTarget.value;
          typed.value = text;
          at.value = 0;
          open();
          onType?.(text, namedBy(text, options));
        }}
        onBlur={() => {
          const text = typed.value?.trim() ?? '';
          const meant = text === '' ? undefined : (namedBy(text, options) ?? (hits.length === 1 ? hits[0] : undefined));
          if (meant) choose(meant);
          else close();
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown' && !isShown) {
            typed.value = undefined;
            open();
          } else if (event.key === 'ArrowDown') at.value = Math.min(hits.length - 1, at.value + 1);
          else if (event.key === 'ArrowUp' && isShown) at.value = Math.max(0, at.value - 1);
          else if (event.key === 'Enter' && isShown && hits[at.value]) choose(hits[at.value]!);
          else if (event.key === 'Escape' && isShown) close();
          else return;
          event.preventDefault();
          event.stopPropagation();
          list.current?.children[at.value]?.scrollIntoView({ block: 'nearest' });
        }}
      />
      {isShown && (
        <ul id={`${id}-list`} class="hits options" role="listbox" aria-label={t.parts.choices} ref={list}>
          {hits.map((option, index) => (
            <li
              key={option.value}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at.value}
              // The field keeps the focus, or it would close before the click arrives.
              onMouseDown={(event) => event.preventDefault()}
              onMouseMove={() => {
                at.value = index;
              }}
              onClick={() => choose(option)}
            >
              <span>{option.text}</span>
              <span class="soft">{option.note}</span>
            </li>
          ))}
          {hits.length === 0 && (
            <li role="option" aria-disabled="true" aria-selected="false" class="soft">
              {areLoading
                ? t.parts.loading
                : (typed.value ?? '').trim() === ''
                  ? t.parts.noneToChoose
                  : t.parts.noChoice}
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

/** `Germany (DE)`, as it stands in the field. */
export const shownOf = ({ text, note }: Option): string => (note ? `${text} (${note})` : text);

/** The option that a text names whole: by its code, or by what no other option is called. */
function namedBy(text: string, options: readonly Option[]): Option | undefined {
  const words = text.trim().toLowerCase();
  const isNamed = (each: string | undefined) => each?.toLowerCase() === words;
  const byCode = options.find(({ value }) => isNamed(value));
  if (byCode) return byCode;
  const named = options.filter((option) => [option.text, option.note, shownOf(option)].some(isNamed));
  return named.length === 1 ? named[0] : undefined;
}

/** Options that contain what is typed, those that begin with it first. */
function hitsOf(options: readonly Option[], typed: string): readonly Option[] {
  const words = typed.trim().toLowerCase();
  if (words === '') return options.slice(0, MOST_SHOWN);
  const rankOf = ({ value, text, note = '' }: Option) => {
    const texts = [text, note, value].map((each) => each.toLowerCase());
    return texts.some((each) => each.startsWith(words)) ? 0 : texts.some((each) => each.includes(words)) ? 1 : 2;
  };
  return [0, 1].flatMap((rank) => options.filter((option) => rankOf(option) === rank)).slice(0, MOST_SHOWN);
}
