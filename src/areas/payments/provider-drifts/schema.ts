import { z } from 'zod';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { optionalText } from '../../../platform/schema/fields.ts';
import { ACTIONS, DRIFT_KINDS } from './drift-kinds.ts';

export const DRIFT_STATUSES = ['open', 'repaired', 'resolved', 'vanished'] as const;

/** How much a person may write about a drift. */
const NOTE_MAX = 5000;

const Figures = z.record(z.string(), z.unknown()).nullable();

const DriftBase = z.object({
  svc_id: z.uuid(),
  payment_provider_code: z.string(),
  kind: z.enum(DRIFT_KINDS),
  severity: z.enum(['warning', 'error']),
  status: z.enum(DRIFT_STATUSES),
  provider_object_id: z.string(),
  /** What we hold; null: nothing. */
  ours: Figures,
  /** What the provider holds; null: nothing. */
  theirs: Figures,
  /** What may be done about it as it is. */
  actions: z.array(z.enum(ACTIONS)),
  svc_payment_id: z.string().nullable(),
  external_customer_id: z.string().nullable(),
  first_seen_at: z.string(),
  last_seen_at: z.string(),
  closed_at: z.string().nullable(),
  /** `{action, note}`; null while it is open, or when it was gone by itself. */
  resolution: z.record(z.string(), z.unknown()).nullable(),
});
export type DriftView = z.infer<typeof DriftBase>;

export const DriftEnvelope = z.object({ provider_drift: DriftBase });
export const DriftList = z.object({ provider_drifts: z.array(DriftBase), meta: PageMeta });

export const DriftsQuery = z.object({
  ...pageQuery,
  kinds: listFilter,
  statuses: listFilter,
  payment_provider_code: textFilter,
  external_customer_id: textFilter,
  payment_id: textFilter,
});
export type DriftsQuery = z.infer<typeof DriftsQuery>;

export const DriftRepair = z.object({
  action: z.enum(ACTIONS, {
    error: (issue) => (issue.input === undefined ? 'value_is_mandatory' : 'value_is_invalid'),
  }),
  note: optionalText({ max: NOTE_MAX }),
});
export type DriftRepair = z.infer<typeof DriftRepair>;
