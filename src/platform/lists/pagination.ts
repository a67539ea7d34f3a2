import { z } from 'zod';
import type { Total } from './count.ts';
import { textFilter } from './filters.ts';

export const PER_PAGE_DEFAULT = 20;
export const PER_PAGE_MAX = 1000;

// Anything but a positive whole number means the default; larger pages are limited silently (lists.md#pages).
const positive = (fallback: number, most: number) =>
  z
    .unknown()
    .optional()
    .transform((value) => (typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : 0))
    .transform((value) => (value < 1 ? fallback : Math.min(value, most)))
    .meta({ type: 'integer', minimum: 1, maximum: most });

/** `page` and `per_page` of every list: spread into the query schema of a list operation. */
export const pageQuery = {
  page: positive(1, 1_000_000_000),
  per_page: positive(PER_PAGE_DEFAULT, PER_PAGE_MAX),
};

/** The same for a list that need not be counted: `count=none`; anything else is absent. */
export const countedPageQuery = {
  ...pageQuery,
  count: textFilter
    .transform((value) => (value?.trim() === 'none' ? ('none' as const) : undefined))
    .meta({ type: 'string', enum: ['none'] }),
};

export interface Page {
  page: number;
  per_page: number;
  /** `none`: the rows are not counted, and one more than the page shows is read. */
  count?: 'none' | undefined;
}

/** `limit` and `offset` of a page; for an uncounted one `limit` has a row more, which `pageOf` takes off. */
export const limitOf = ({ page, per_page, count }: Page) => ({
  limit: count === 'none' ? per_page + 1 : per_page,
  offset: (page - 1) * per_page,
});

/** What is known of a list that was not counted. */
export interface Uncounted {
  isUncounted: true;
  /** Whether a row follows the page. */
  hasMore: boolean;
  /** Whether the list has no row at all, as far as its page tells. */
  isEmpty: boolean;
}

/** How many rows a list has, as far as it was counted. */
export type Counted = number | Total | Uncounted;

interface ListOf<Row, Count> {
  rows: () => PromiseLike<readonly Row[]>;
  count: () => PromiseLike<Count>;
}

/**
 * Rows of a page, read with the limit of `limitOf`, and how many there are, at the same time. With `count=none` nothing
 * is counted. Rule: lists.md#pages.
 */
export async function pageOf<Row, Count extends number | Total>(
  page: Page,
  { rows, count }: ListOf<Row, Count>,
): Promise<{ rows: readonly Row[]; total: Count | Uncounted }> {
  if (page.count !== 'none') {
    const [read, total] = await Promise.all([rows(), count()]);
    return { rows: read, total };
  }
  const read = await rows();
  const total: Uncounted = {
    isUncounted: true,
    hasMore: read.length > page.per_page,
    isEmpty: read.length === 0 && page.page === 1,
  };
  return { rows: read.slice(0, page.per_page), total };
}

/** `meta` of a list; all zeros if it is empty (lists.md#pages). Estimated numbers are marked. */
export function pageMeta({ page, per_page }: Page, total: Counted): z.output<typeof PageMeta> {
  if (typeof total === 'object' && 'isUncounted' in total)
    return {
      current_page: total.isEmpty ? 0 : page,
      next_page: total.hasMore ? page + 1 : null,
      prev_page: page > 1 ? page - 1 : null,
      total_pages: null,
      total_count: null,
    };
  const { count, isEstimated } = typeof total === 'number' ? { count: total, isEstimated: false } : total;
  if (count === 0) return { current_page: 0, next_page: null, prev_page: null, total_pages: 0, total_count: 0 };
  const totalPages = Math.ceil(count / per_page);
  return {
    current_page: page,
    next_page: page < totalPages ? page + 1 : null,
    prev_page: page > 1 ? page - 1 : null,
    total_pages: totalPages,
    total_count: count,
    ...(isEstimated ? { total_count_estimated: true } : {}),
  };
}

export const PageMeta = z.object({
  current_page: z.int(),
  next_page: z.int().nullable(),
  prev_page: z.int().nullable(),
  total_pages: z.int().nullable(),
  total_count: z.int().nullable(),
  /** Present if the count and the number of pages are estimated, beyond 10 000 rows. */
  total_count_estimated: z.boolean().optional(),
});
