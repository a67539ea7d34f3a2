import { z } from 'zod';
import { integer, text } from '../../../platform/schema/fields.ts';

/** How many characters a reason may have. */
const REASON_MAX = 600;

/** Without an amount all that is due. Rule: ledger.md#write-off. */
export const WriteOffCreate = z.object({
  amount_cents: integer({ min: 1 }).nullish(),
  reason: text({ max: REASON_MAX }),
});
export type WriteOffCreate = z.infer<typeof WriteOffCreate>;
