import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { dayFilter, mandatoryDayFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';

/** Filters of `GET /archive_roots`: days, both included. */
export const ArchiveRootsQuery = z.object({ ...pageQuery, from: dayFilter, to: dayFilter });
export type ArchiveRootsQuery = z.infer<typeof ArchiveRootsQuery>;

/** Query of `GET /e_documents/export`: days of issue, both included. */
export const ExportQuery = z
  .object({ from: mandatoryDayFilter, to: mandatoryDayFilter })
  .refine(({ from, to }) => Temporal.PlainDate.compare(from, to) <= 0, {
    path: ['to'],
    error: 'value_is_out_of_range',
  });
export type ExportQuery = z.infer<typeof ExportQuery>;

export const ArchiveRootList = z.object({
  archive_roots: z.array(
    z.object({
      billing_entity_code: z.string(),
      day: z.string(),
      count: z.int(),
      root: z.string(),
    }),
  ),
  meta: PageMeta,
});
