import type { ComponentChildren } from 'preact';
import { type Filters, route, searchOf, setFilters } from '../frame/route.ts';
import { useRead } from '../frame/use-read.ts';
import { t } from '../texts/en.ts';
import { CustomerNames, useCustomerNames } from './customer-names.tsx';
import { Empty, Shown } from './states.tsx';
import { type Column, type PageMeta, Pager, Table } from './table.tsx';

const PER_PAGE = 25;

export interface ListOf<Row> {
  /** Path of the API, and the key of its answer that holds the rows. */
  path: string;
  root: string;
  /** What is asked for beside the page. */
  filters?: Filters;
  /** Whether the API may leave the number of all records out, which costs it most. */
  isUncounted?: boolean;
  everySeconds?: number;
  /** Whether the API gives the oldest record first. */
  isOldestFirst?: boolean;
  label: string;
  columns: readonly Column<Row>[];
  keyOf?: (row: Row) => string;
  href?: (row: Row) => string | undefined;
  /** Whose names `CustomerLink` shows in the cells: the external id of a row's customer. */
  customerOf?: (row: Row) => string | null | undefined;
  /** What would stand here, and what makes the first of it. */
  empty: { title: string; children?: ComponentChildren };
}

/** A page of records of the API, by the filters of the address. */
export function Listing<Row>({
  path,
  root,
  filters = {},
  isUncounted = false,
  everySeconds,
  isOldestFirst,
  label,
  columns,
  keyOf = (row) => (row as { svc_id: string }).svc_id,
  href,
  customerOf,
  empty,
}: ListOf<Row>) {
  const page = route.value.query.get('page') ?? 1;
  const asked = { per_page: PER_PAGE, page, ...(isUncounted ? { count: 'none' } : {}), ...filters };
  const list = useRead<Record<string, Row[]> & { meta: PageMeta }>(`${path}${searchOf(asked)}`, { everySeconds });
  const rowsRead = customerOf && list.data ? (list.data[root] as Row[]) : [];
  const names = useCustomerNames(rowsRead.map((row) => customerOf?.(row)));
  return (
    <Shown of={list} rows={8}>
      {(answer) => {
        const rows = answer[root] as Row[];
        if (rows.length === 0) return <NothingFound {...empty} />;
        return (
          <>
            <CustomerNames.Provider value={names}>
              <Table label={label} rows={rows} columns={columns} keyOf={keyOf} href={href} />
            </CustomerNames.Provider>
            <Pager meta={answer.meta} isOldestFirst={isOldestFirst ?? false} />
          </>
        );
      }}
    </Shown>
  );
}

/** Filters that leave nothing can be taken away one by one; without any, the page says what would stand here. */
export function NothingFound({ title, children }: ListOf<never>['empty']) {
  const chosen = [...route.value.query.keys()].filter((name) => name !== 'show');
  if (chosen.length === 0) return <Empty title={title}>{children}</Empty>;
  return (
    <Empty title={t.list.nothingLikeThat}>
      <Chips of={chosen} textOf={(name, value) => (name === 'page' ? t.list.page(value) : value)} />
    </Empty>
  );
}

/** Filters of the address, each of which can be taken away. */
export function Chips({ of, textOf }: { of: readonly string[]; textOf: (name: string, value: string) => string }) {
  const { query } = route.value;
  const chosen = of.filter((name) => query.get(name));
  if (chosen.length === 0) return null;
  return (
    <p class="chips">
      {chosen.map((name) => (
        <button key={name} type="button" class="chip" onClick={() => setFilters({ [name]: undefined })}>
          {textOf(name, query.get(name) ?? '')} <span aria-hidden="true">✕</span>
          <span class="unseen">{t.list.remove}</span>
        </button>
      ))}
    </p>
  );
}
