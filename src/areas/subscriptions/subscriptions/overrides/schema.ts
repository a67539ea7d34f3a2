import { z } from 'zod';
import { SUBSCRIPTION_STATUSES } from '../../../../engine/subscriptions/subscription-states.ts';
import { textFilter } from '../../../../platform/lists/filters.ts';
import { pageQuery } from '../../../../platform/lists/pagination.ts';

// An unknown word is ignored.
const status = textFilter
  .transform((value) => SUBSCRIPTION_STATUSES.find((each) => each === value) ?? ('active' as const))
  .meta({ type: 'string', enum: SUBSCRIPTION_STATUSES });

export const OverrideQuery = z.object({ subscription_status: status });
export type OverrideQuery = z.infer<typeof OverrideQuery>;
export const OverrideListQuery = z.object({ subscription_status: status, ...pageQuery });
export type OverrideListQuery = z.infer<typeof OverrideListQuery>;
