import { refuse } from '../refusal.ts';
import type { Total } from './count.ts';
import { limitOf, type Page, pageOf, type Uncounted } from './pagination.ts';

/**
 * How many rows there may be before a page that is requested by its number: Postgres reads all of them, about half a
 * second.
 */
const MOST_SKIPPED = 50_000;

/**
 * Rows of a page and their total, for a list that may be very long. A page after more than 50 000 rows is refused if
 * the list is estimated to be that long, and otherwise empty without reading rows.
 *
 * @throws Refusal 422 page: value_is_out_of_range
 */
export async function boundedPage<Row>(
  page: Page,
  list: { rows: () => PromiseLike<readonly Row[]>; count: () => Promise<Total> },
): Promise<{ rows: readonly Row[]; total: Total | Uncounted }> {
  if (limitOf(page).offset <= MOST_SKIPPED) return pageOf(page, list);
  if (page.count === 'none') throw refuse.invalid({ page: ['value_is_out_of_range'] });
  const total = await list.count();
  if (total.isEstimated) throw refuse.invalid({ page: ['value_is_out_of_range'] });
  return { rows: [], total };
}
