import { z } from 'zod';
import {
  booleanFilter,
  listFilter,
  mandatoryDayFilter,
  metadataFilter,
  textFilter,
} from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { oneOf } from '../../../platform/schema/fields.ts';

/** What margins are shown by, beside the setting `margin_dimensions`. */
export const GROUPS = [
  'customer',
  'subscription',
  'plan',
  'provider',
  'model',
  'code',
  'day',
  'week',
  'month',
] as const;
export type Group = (typeof GROUPS)[number];

export const ORDERS = ['cost', 'margin', 'revenue', 'events'] as const;
export type Order = (typeof ORDERS)[number];

/** What revenue is: what calls are sold for by the terms of today, or what finalized invoices have billed. */
const BASES = ['usage', 'billed'] as const;

const filters = {
  from: mandatoryDayFilter,
  to: mandatoryDayFilter,
  provider: textFilter,
  model: textFilter,
  code: textFilter,
  dimensions: metadataFilter,
  basis: textFilter.pipe(oneOf(BASES).default('usage')).meta({ type: 'string', enum: [...BASES] }),
  order: textFilter.pipe(oneOf(ORDERS).default('cost')).meta({ type: 'string', enum: [...ORDERS] }),
  ...pageQuery,
};

export const MarginQuery = z.object({
  ...filters,
  group_by: listFilter,
  customer: textFilter,
  subscription: textFilter,
  plan: textFilter,
  include_all_fees: booleanFilter,
});
export type MarginQuery = z.output<typeof MarginQuery>;

export const CustomerMarginQuery = z.object(filters);
export type CustomerMarginQuery = z.output<typeof CustomerMarginQuery>;

const Figures = z.object({
  currency: z.string(),
  events: z.int(),
  unpriced_events: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  precise_cost_cents: z.string(),
  precise_revenue_cents: z.string().nullable(),
  precise_margin_cents: z.string().nullable(),
  margin_rate: z.number().nullable(),
  flags: z.array(z.string()),
});
export type FiguresView = z.output<typeof Figures>;

const Margin = Figures.extend({
  external_customer_id: z.string().nullable().optional(),
  external_subscription_id: z.string().nullable().optional(),
  plan_code: z.string().nullable().optional(),
  provider: z.string().nullable().optional(),
  model: z.string().nullable().optional(),
  code: z.string().nullable().optional(),
  day: z.iso.date().optional(),
  week: z.iso.date().optional(),
  month: z.iso.date().optional(),
  dimensions: z.record(z.string(), z.string().nullable()).optional(),
});
export type MarginView = z.output<typeof Margin>;

export const MarginList = z.object({ margins: z.array(Margin), totals: Figures, meta: PageMeta });
