import { z } from 'zod';
import { textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { optionalText } from '../../../platform/schema/fields.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';

export const RECONCILIATION_STATUSES = ['pending', 'running', 'succeeded', 'failed'] as const;

const RunView = z.object({
  svc_id: z.uuid(),
  status: z.enum(RECONCILIATION_STATUSES),
  /** Null: all connections. */
  payment_provider_code: z.string().nullable(),
  from: z.string(),
  to: z.string().nullable(),
  /** `total` is 0, because no provider says how much it holds. */
  progress: z.object({ done: z.int(), total: z.int(), percent: z.int() }),
  counts: z.object({
    compared: z.int(),
    equal: z.int(),
    foreign: z.int(),
    unreadable: z.int(),
    drifts: z.record(z.string(), z.int()),
  }),
  /** Up to when everything is compared; null until the run has succeeded. */
  watermark: z.string().nullable(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string(), svc_resource_id: z.string().nullable() }).nullable(),
});
export type RunView = z.infer<typeof RunView>;

export const RunEnvelope = z.object({ provider_reconciliation: RunView });
export const RunList = z.object({ provider_reconciliations: z.array(RunView), meta: PageMeta });
export const RunsQuery = z.object({ ...pageQuery, payment_provider_code: textFilter });
export type RunsQuery = z.infer<typeof RunsQuery>;

export const RunCreate = z.object({
  payment_provider_code: optionalText(),
  from: instantField().nullish(),
  to: instantField().nullish(),
});
export type RunCreate = z.infer<typeof RunCreate>;
