import type { z } from 'zod';
import { renameErrors } from './flat-errors.ts';

/**
 * Check for an object with lists of records: errors inside a record are reported under the record's own field, `values`
 * and not `filters.0.values`, as the rules require for parts of metrics and plans.
 *
 *   z.object({ filters: z.array(Filter) }).check(elementErrors('filters'))
 */
export const elementErrors = <Output>(...lists: string[]): z.core.$ZodCheck<Output> =>
  renameErrors((path) => (path.length > 2 && lists.includes(String(path[0])) ? [path[2]!] : path));
