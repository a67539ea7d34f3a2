import { z } from 'zod';
import { listFilter } from '../../../platform/lists/filters.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';

/** As many as a list shows at most. */
const NAMES_MAX = 100;

export const CustomerNamesQuery = z.object({
  external_ids: listFilter
    .refine((ids) => (ids?.length ?? 0) <= NAMES_MAX, OUT_OF_RANGE)
    .meta({ type: 'array', items: { type: 'string' } }),
});
export type CustomerNamesQuery = z.output<typeof CustomerNamesQuery>;

export const CustomerNames = z.object({
  customer_names: z.array(z.object({ svc_id: z.uuid(), external_id: z.string(), name: z.string() })),
});
export type CustomerNames = z.infer<typeof CustomerNames>;
