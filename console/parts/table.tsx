import type { ComponentChildren } from 'preact';
import { go, route, setFilters } from '../frame/route.ts';
import { t } from '../texts/en.ts';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ComponentChildren;
  /** Amounts stand right, in figures of one width. */
  isNumber?: boolean;
  /** Left out on narrow screens. */
  isExtra?: boolean;
  /** Below the rows: the sum of the column, or what it is the sum of. */
  foot?: string;
}

/** Rows of a list; `href` makes each row lead to its record. `j`, `k` and Enter move between rows. */
export function Table<Row>({
  label,
  rows,
  columns,
  href,
  keyOf,
}: {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  href?: (row: Row) => string | undefined;
  keyOf: (row: Row) => string;
}) {
  const classOf = ({ isNumber, isExtra }: Column<Row>) =>
    `${isNumber ? 'number' : ''} ${isExtra ? 'extra' : ''}`.trim();
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" class={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const target = href?.(row);
            return (
              <tr
                key={keyOf(row)}
                class={target === undefined ? '' : 'leads'}
                onClick={(event) => {
                  if (target === undefined || (event.target as Element).closest('a, button, input')) return;
                  if (String(getSelection()) === '') go(target);
                }}
              >
                {columns.map((column, index) => (
                  <td key={column.head} class={classOf(column)}>
                    {index === 0 && target !== undefined ? (
                      <a href={target} data-row>
                        {column.cell(row)}
                      </a>
                    ) : (
                      column.cell(row)
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
        {columns.some(({ foot }) => foot !== undefined) && (
          <tfoot>
            <tr>
              {columns.map((column) => (
                <td key={column.head} class={classOf(column)}>
                  {column.foot}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

export interface PageMeta {
  current_page: number;
  next_page: number | null;
  prev_page: number | null;
  total_pages: number | null;
  total_count: number | null;
}

/** Buttons to the next and the former page; the page is part of the address. */
export function Pager({ meta, isOldestFirst = false }: { meta: PageMeta; isOldestFirst?: boolean }) {
  const { prev_page: before, next_page: next, total_count: total, current_page: page } = meta;
  if (!before && !next && page === 1)
    return (total ?? 0) < 2 ? null : <p class="pager soft">{t.parts.allOf(total!.toLocaleString())}</p>;
  return (
    <nav class="pager" aria-label={t.parts.pages}>
      <button type="button" class="quiet" disabled={!before} onClick={() => setFilters({ page: String(before) })}>
        {isOldestFirst ? t.parts.earlier : t.parts.newer}
      </button>
      <span class="soft">
        {t.parts.page}
        {page}
        {meta.total_pages ? ` of ${meta.total_pages}` : ''}
        {total === null ? '' : t.parts.total(total.toLocaleString())}
      </span>
      <button type="button" class="quiet" disabled={!next} onClick={() => setFilters({ page: String(next) })}>
        {isOldestFirst ? t.parts.later : t.parts.older}
      </button>
    </nav>
  );
}

/** A filter of the list as a row of choices, which is part of the address. */
export function Choices({
  label,
  name,
  options,
}: {
  label: string;
  name: string;
  options: readonly (readonly [value: string, text: string])[];
}) {
  const chosen = route.value.query.get(name) ?? '';
  return (
    <fieldset class="choices">
      <legend class="unseen">{label}</legend>
      {options.map(([value, text]) => (
        <button
          key={value}
          type="button"
          aria-pressed={chosen === value}
          onClick={() => setFilters({ [name]: value === '' ? undefined : value })}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}

/** A text filter that is applied once it is typed. */
export function SearchField({ label, name = 'q' }: { label: string; name?: string }) {
  return (
    <form
      class="search-field"
      onSubmit={(event) => {
        event.preventDefault();
        const text = new FormData(event.currentTarget as HTMLFormElement).get('text');
        setFilters({ [name]: String(text).trim() });
      }}
    >
      <input
        type="search"
        name="text"
        aria-label={label}
        placeholder={label}
        key={route.value.query.get(name) ?? ''}
        defaultValue={route.value.query.get(name) ?? ''}
        onSearch={(event: Event) => setFilters({ [name]: (event.currentTarget as HTMLInputElement).value.trim() })}
      />
    </form>
  );
}

/** A day as a filter of the address, `YYYY-MM-DD`. */
export function DateField({ label, name }: { label: string; name: string }) {
  return (
    <label class="date-field">
      <span class="soft">{label}</span>
      <input
        type="date"
        value={route.value.query.get(name) ?? ''}
        onChange={(event) => setFilters({ [name]: (event.currentTarget as HTMLInputElement).value })}
      />
    </label>
  );
}
