import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { t } from '../texts/en.ts';
import { addressOf, type Found } from './found.ts';
import { mayOpen, ROOMS } from './rooms.ts';
import { go, searchOf, to } from './route.ts';
import { useRead } from './use-read.ts';

export const searchIsOpen = signal(false);

const TYPE_PAUSE_MS = 150;
const QUERY_MAX = 200;

/** Finds records and rooms by what is typed; arrows and Enter open one. Rule: console-reads.md#search. */
export function SearchBox() {
  const typed = useSignal('');
  const asked = useSignal('');
  const chosen = useSignal(0);
  const list = useRef<HTMLUListElement>(null);
  const close = () => {
    searchIsOpen.value = false;
  };
  useEffect(() => {
    const timer = setTimeout(() => {
      asked.value = queryOf(typed.value);
      chosen.value = 0;
    }, TYPE_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed.value]);
  const { data, error } = useRead<{ search: { truncated: boolean; results: Found[] } }>(
    asked.value === '' ? null : `/search${searchOf({ q: asked.value })}`,
  );
  const words = typed.value.trim().toLowerCase();
  const isAnswered = words === '' || (data !== undefined && asked.value === queryOf(typed.value));
  const rooms = ROOMS.filter((room) => mayOpen(room) && (words === '' || room.text.toLowerCase().includes(words))).map(
    (room) => ({ key: room.name, text: room.text, note: t.search.room, href: to(room.name) }),
  );
  const records = (data?.search.results ?? []).flatMap((found) => {
    const href = addressOf(found);
    const note = [t.search.kinds[found.type], found.subtitle].filter(Boolean).join(' · ');
    return href === undefined ? [] : [{ key: found.svc_id, text: found.title, note, href }];
  });
  const hits = [...records, ...rooms];
  const open = (href: string) => {
    close();
    go(href);
  };
  return (
    <Dialog title={t.search.title} onClose={close}>
      <input
        type="text"
        class="search-input"
        role="combobox"
        aria-expanded="true"
        aria-controls="hits"
        aria-activedescendant={hits.length > 0 ? `hit-${chosen.value}` : undefined}
        aria-label={t.search.label}
        placeholder={t.search.label}
        value={typed.value}
        autofocus
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          const last = hits.length - 1;
          if (event.key === 'ArrowDown') chosen.value = Math.min(last, chosen.value + 1);
          else if (event.key === 'ArrowUp') chosen.value = Math.max(0, chosen.value - 1);
          else if (event.key === 'Enter' && hits[chosen.value]) open(hits[chosen.value]!.href);
          else return;
          event.preventDefault();
          list.current?.children[chosen.value]?.scrollIntoView({ block: 'nearest' });
        }}
      />
      {error && <p class="fault">{t.search.failed}</p>}
      <ul id="hits" class="hits" role="listbox" aria-label={t.search.found} ref={list}>
        {hits.map(({ key, text, note, href }, index) => (
          <li
            key={key}
            id={`hit-${index}`}
            role="option"
            aria-selected={index === chosen.value}
            onMouseMove={() => {
              chosen.value = index;
            }}
            onClick={() => open(href)}
          >
            <span>{text}</span>
            <span class="soft">{note}</span>
          </li>
        ))}
      </ul>
      {data?.search.truncated && <p class="soft">{t.search.truncated}</p>}
      {hits.length === 0 && isAnswered && <p class="soft">{t.search.nothing(typed.value)}</p>}
    </Dialog>
  );
}

const queryOf = (typed: string): string => typed.trim().slice(0, QUERY_MAX);
