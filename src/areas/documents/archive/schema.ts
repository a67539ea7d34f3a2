import { z } from 'zod';
import { dayFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';

/** Filters of `GET /archive_roots`: days, both included. */
export const ArchiveRootsQuery = z.object({ ...pageQuery, from: dayFilter, to: dayFilter });
export type ArchiveRootsQuery = z.infer<typeof ArchiveRootsQuery>;

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
