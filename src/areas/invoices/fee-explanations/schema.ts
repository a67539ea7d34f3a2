import { z } from 'zod';
import { pageQuery } from '../../../platform/lists/pagination.ts';
import { EventPageMeta, EventView } from '../../usage/events/schema.ts';

const StepView = z.object({
  position: z.int(),
  code: z.string(),
  inputs: z.record(z.string(), z.unknown()),
  output: z.string(),
  rule: z.string().optional(),
  get steps() {
    return z.array(StepView).optional();
  },
});

export const ExplanationEnvelope = z.object({
  explanation: z.object({
    svc_fee_id: z.string(),
    fee_type: z.string(),
    charge_model: z.string().nullable(),
    currency: z.string(),
    engine_version: z.int().nullable(),
    explainable: z.boolean(),
    reason: z.string().optional(),
    provisional: z.boolean(),
    window: z
      .object({
        from: z.string(),
        to: z.string(),
        timezone: z.string().nullable(),
        days: z.int().nullable(),
        days_counted_by: z.enum(['local_dates', 'day_difference']).nullable(),
        duration: z.int().nullable(),
      })
      .nullable(),
    steps: z.array(StepView),
    texts: z.array(z.string()),
    events: z.object({ count: z.int(), digest: z.string().nullable(), url: z.string() }).nullable(),
    check: z
      .object({
        equal: z.boolean(),
        explained_amount_cents: z.int(),
        stored_amount_cents: z.int(),
        explained_taxes_amount_cents: z.int(),
        stored_taxes_amount_cents: z.int(),
        explained_precise_coupons_amount_cents: z.string(),
        stored_precise_coupons_amount_cents: z.string(),
      })
      .nullable(),
  }),
});

/** Why a call of a language model has its amount. */
const RatingView = z.object({
  parts: z.array(
    z.object({
      kind: z.string(),
      quantity: z.string(),
      cost: z.string().nullable(),
      sell: z.string().nullable(),
      per: z.int().nullable(),
      precise_cost_cents: z.string().nullable(),
      precise_amount_cents: z.string().nullable(),
      svc_price_entry_id: z.uuid().nullable(),
      fallback: z.string().nullable(),
    }),
  ),
  matches: z.boolean(),
});

export const FeeEventList = z.object({
  events: z.array(EventView.extend({ rating: RatingView.optional() })),
  meta: EventPageMeta,
});

export const FeeEventsQuery = z.object({ ...pageQuery });
export type FeeEventsQuery = z.infer<typeof FeeEventsQuery>;
