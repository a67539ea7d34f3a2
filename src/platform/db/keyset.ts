import type { DueItem, Page, Place, Selected } from '../periodic-job.ts';
import type { Db, Fragment } from './connect.ts';

/** A row of a page, with its place in the order. */
export interface Placed {
  place: Place;
}

/**
 * The parts of a statement that reads one page of a selection: the place of each row, the condition that it stands
 * behind the last page, and the order with the limit. Rows are ordered by organization and then by `keys`, which name
 * a row together, so that rows which come or go between two pages make no other row fall out or come twice.
 *
 * organization  column of the organization
 * keys          columns of the order within an organization, none of them null; without them it has one row
 */
export function keyset(db: Db, { limit, after }: Page, organization: Fragment, keys?: Fragment) {
  const order = keys === undefined ? organization : db`${organization}, ${keys}`;
  return {
    place: db`jsonb_build_array(${order}) as place`,
    isBehind: after === undefined ? db`true` : isBehind(db, after, organization, order),
    order: db`order by ${order} limit ${limit}`,
  };
}

function isBehind(db: Db, after: Place, organization: Fragment, order: Fragment): Fragment {
  const [organizationId, ...values] = after;
  if (values.length === 0) return db`${organization} > ${organizationId}`;
  const place = values.reduce<Fragment>((list, value) => db`${list}, ${value}`, db`${organizationId}`);
  return db`(${order}) > (${place})`;
}

/** The items of a page of rows, and where the next one begins. */
export function selected<Row extends Placed, Item>(
  rows: readonly Row[],
  { limit }: Page,
  itemOf: (row: Row) => DueItem<Item>,
): Selected<Item> {
  return { items: rows.map(itemOf), next: nextOf(rows, limit) };
}

/** The same of a page that also has rows which only might have been due. */
export const selectedDue = <Row extends Placed & { is_due: boolean }, Item>(
  rows: readonly Row[],
  { limit }: Page,
  itemOf: (row: Row) => DueItem<Item>,
): Selected<Item> => ({ items: rows.filter(({ is_due }) => is_due).map(itemOf), next: nextOf(rows, limit) });

/** Null when the page is the last one. */
export const nextOf = (rows: readonly Placed[], limit: number): Place | null =>
  rows.length < limit ? null : rows.at(-1)!.place;
