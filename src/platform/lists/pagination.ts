import { z } from 'zod';
import type { Total } from './count.ts';

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

export interface Page {
  page: number;
  per_page: number;
}

/** `limit` and `offset` of a page. */
export const limitOf = ({ page, per_page }: Page) => ({ limit: per_page, offset: (page - 1) * per_page });

/** `meta` of a list; all zeros if it is empty (lists.md#pages). Estimated numbers are marked. */
export function pageMeta({ page, per_page }: Page, total: number | Total): z.output<typeof PageMeta> {
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
  total_pages: z.int(),
  total_count: z.int(),
  /** Present if the count and the number of pages are estimated, beyond 10 000 rows. */
  total_count_estimated: z.boolean().optional(),
});
