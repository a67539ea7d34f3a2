import { z } from 'zod';
import { AGGREGATION_TYPES } from '../../../engine/metrics/aggregation-types.ts';
import { CHARGE_MODELS } from '../../../engine/pricing/charge-models.ts';
import { booleanFilter, mandatoryTextFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';

/**
 * Property values by key: `group[key]=value`, `group[key][]=value` for any of several, or a JSON object as text. Keys
 * without a value are left out.
 */
const groupFilter = z
  .unknown()
  .optional()
  .transform((value) => {
    const entries = Object.entries(objectOf(value) ?? {}).map(([key, given]) => [key, valuesOf(given)] as const);
    const known = entries.filter(([, values]) => values.length > 0);
    return known.length === 0 ? undefined : Object.fromEntries(known);
  })
  .meta({ type: 'object', additionalProperties: { type: 'string' } });

function objectOf(value: unknown): object | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  if (typeof value !== 'string') return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined; // not an object, so it is ignored
  }
}

const valuesOf = (given: unknown): string[] => [
  ...new Set((Array.isArray(given) ? given : [given]).filter((each) => each !== null && each !== '').map(String)),
];

/** Presentation keys to keep: a JSON array as text, or repeated; anything else is absent. */
const presentationFilter = z
  .unknown()
  .optional()
  .transform((value) => {
    const given = typeof value === 'string' ? arrayOf(value) : value;
    if (!Array.isArray(given)) return undefined;
    return given.filter((each): each is string => typeof each === 'string' && each !== '');
  });

function arrayOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not an array, so it is ignored
  }
}

export const CurrentUsageQuery = z.object({
  external_subscription_id: mandatoryTextFilter,
  apply_taxes: booleanFilter,
  charge_id: textFilter,
  charge_code: textFilter,
  billable_metric_code: textFilter,
  filter_by_charge_id: textFilter,
  filter_by_charge_code: textFilter,
  filter_by_metric_code: textFilter,
  group: groupFilter,
  filter_by_group: groupFilter,
  filter_by_presentation: presentationFilter,
  full_usage: booleanFilter,
});
export type CurrentUsageQuery = z.infer<typeof CurrentUsageQuery>;

export const ProjectedUsageQuery = CurrentUsageQuery.omit({ full_usage: true });
export type ProjectedUsageQuery = z.infer<typeof ProjectedUsageQuery>;

export const PastUsageQuery = z.object({
  ...pageQuery,
  external_subscription_id: mandatoryTextFilter,
  billable_metric_code: textFilter,
  periods_count: textFilter.meta({ type: 'integer', minimum: 1 }),
});
export type PastUsageQuery = z.infer<typeof PastUsageQuery>;

const DecimalText = z.string();
const Breakdowns = z.array(
  z.object({ presentation_by: z.record(z.string(), z.string().nullable()), units: DecimalText }),
);
const figures = {
  units: DecimalText,
  total_aggregated_units: DecimalText,
  events_count: z.int(),
  amount_cents: z.int(),
  pricing_unit_details: z
    .object({
      amount_cents: z.int(),
      short_name: z.string(),
      conversion_rate: DecimalText,
      projected_amount_cents: z.int().optional(),
    })
    .nullable(),
  /** For projected usage only. */
  projected_units: DecimalText.optional(),
  projected_amount_cents: z.int().optional(),
  presentation_breakdowns: Breakdowns,
  projected_presentation_breakdowns: Breakdowns.optional(),
};
const FilterUsage = z.object({
  ...figures,
  invoice_display_name: z.string().optional(),
  values: z.record(z.string(), z.array(z.string())),
});
const ChargeUsage = z.object({
  ...figures,
  /** For current and projected usage of dynamic charges, where there are some. */
  unpriced_events: z.int().optional(),
  amount_currency: z.string(),
  charge: z.object({
    svc_id: z.string(),
    code: z.string(),
    charge_model: z.enum(CHARGE_MODELS),
    invoice_display_name: z.string().nullable().optional(),
  }),
  billable_metric: z.object({
    svc_id: z.string(),
    name: z.string(),
    code: z.string(),
    aggregation_type: z.enum(AGGREGATION_TYPES),
  }),
  filters: z.array(FilterUsage),
  grouped_usage: z.array(
    z.object({
      ...figures,
      grouped_by: z.record(z.string(), z.string().nullable()),
      filters: z.array(FilterUsage),
    }),
  ),
});
const usage = {
  from_datetime: z.string(),
  to_datetime: z.string(),
  issuing_date: z.string(),
  svc_invoice_id: z.string().nullable(),
  currency: z.string(),
  amount_cents: z.int(),
  taxes_amount_cents: z.int(),
  total_amount_cents: z.int(),
  charges_usage: z.array(ChargeUsage),
};
export const CustomerUsageEnvelope = z.object({ customer_usage: z.object(usage) });
export const CustomerProjectedUsageEnvelope = z.object({
  customer_projected_usage: z.object({ ...usage, projected_amount_cents: z.int() }),
});
export const UsagePeriodsEnvelope = z.object({ usage_periods: z.array(z.object(usage)), meta: PageMeta });
