import { z } from 'zod';

export const MetricFilters = z.array(z.object({ key: z.string(), values: z.array(z.string()) }));
export type MetricFilter = z.infer<typeof MetricFilters>[number];

/** By key, their values sorted. */
export const sortedFilters = (filters: MetricFilter[]): MetricFilter[] =>
  filters.map(({ key, values }) => ({ key, values: [...values].sort() })).sort((a, b) => (a.key < b.key ? -1 : 1));
