import { useSignal } from '@preact/signals';
import { route, setFilters } from '../frame/route.ts';
import { can } from '../frame/session.ts';
import { RecordChoice } from './choices.tsx';
import type { Source } from './sources.ts';
import { SearchField } from './table.tsx';

/** A filter of the list by a record, found by its name; it is part of the address once one is chosen. */
export function RecordFilter({ label, name, from }: { label: string; name: string; from: Source }) {
  const value = route.value.query.get(name) ?? '';
  const typed = useSignal(value);
  const set = (text: string) => {
    if (text !== value) setFilters({ [name]: text });
  };
  if (!can(from.needs)) return <SearchField label={label} name={name} />;
  return (
    <form
      class="search-field"
      key={value}
      onSubmit={(event) => {
        event.preventDefault();
        set(typed.value);
      }}
    >
      <label class="unseen" for={`filter-${name}`}>
        {label}
      </label>
      <RecordChoice
        id={`filter-${name}`}
        name={name}
        placeholder={label}
        from={from}
        value={typed.value}
        onInput={(text, isChosen) => {
          typed.value = text;
          if (isChosen || text === '') set(text);
        }}
      />
    </form>
  );
}
