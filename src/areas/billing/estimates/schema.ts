import { z } from 'zod';
import { anyValue } from '../../../platform/schema/bounded.ts';
import { FORMAT, INVALID } from '../../../platform/schema/fields.ts';
import { LINE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import { FeeObject } from '../../invoices/fees/schema.ts';

/** How many properties an event may have; a batch holds fewer events. */
const PROPERTIES_MAX = 1000;

const lenientText = anyValue({ max: SCALAR_MAX, textMax: LINE_MAX })
  .optional()
  .transform((value) => {
    if (typeof value === 'string') return value;
    return typeof value === 'number' ? String(value) : '';
  })
  .refine(isStorable, FORMAT);
/** As of an event that is stored: null and an empty list mean no properties, anything else but an object is refused. */
const properties = anyValue({ max: PROPERTIES_MAX })
  .optional()
  .transform((value, context): Record<string, unknown> => {
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return {};
    if (typeof value === 'object' && !Array.isArray(value)) return { ...value };
    context.addIssue({ code: 'custom', message: INVALID });
    return z.NEVER;
  });

/** An event that is not stored. Missing fields are reported in the order of estimates.md#fees. */
export const EstimatedEvent = z.object({
  external_subscription_id: lenientText,
  code: lenientText,
  transaction_id: lenientText,
  timestamp: anyValue({ max: SCALAR_MAX, textMax: LINE_MAX }).optional(),
  precise_total_amount_cents: lenientText,
  properties,
});
export type EstimatedEvent = z.infer<typeof EstimatedEvent>;

const documented = z.object({
  code: z.string(),
  external_subscription_id: z.string(),
  transaction_id: z.string().optional(),
  timestamp: z.union([z.number(), z.string()]).optional(),
  precise_total_amount_cents: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).nullish(),
});
export const EstimateBody = z.object({ event: documented });
export const EstimatesBody = z.object({ events: z.array(EstimateBody) });

/** The whole body of a batch; its list is checked when it is read. */
export const EstimatedEvents = z.object({
  events: anyValue({ max: PROPERTIES_MAX, tooMany: 'too_many_events' }).optional(),
});
export type EstimatedEvents = z.infer<typeof EstimatedEvents>;

/** A fee that is not stored. */
export const EstimatedFees = z.object({
  fees: z.array(
    FeeObject.omit({ amount_details: true, applied_taxes: true }).extend({ svc_id: z.null(), created_at: z.null() }),
  ),
});

const absent = z.null();
export const InstantFees = z.object({
  fees: z.array(
    FeeObject.pick({
      amount_cents: true,
      amount_currency: true,
      taxes_amount_cents: true,
      taxes_rate: true,
      total_amount_cents: true,
      total_amount_currency: true,
      units: true,
      events_count: true,
      pay_in_advance: true,
      invoiceable: true,
      svc_charge_id: true,
      svc_charge_filter_id: true,
      svc_subscription_id: true,
      svc_customer_id: true,
      external_customer_id: true,
      external_subscription_id: true,
      event_transaction_id: true,
      precise_coupons_amount_cents: true,
    }).extend({
      svc_id: absent,
      svc_invoice_id: absent,
      svc_true_up_fee_id: absent,
      svc_true_up_parent_fee_id: absent,
      item: z.looseObject({}),
      precise_amount: z.number(),
      precise_total_amount: z.number(),
      taxes_precise_amount: z.number(),
      precise_unit_amount: z.number(),
      description: absent,
      payment_status: z.literal('pending'),
      created_at: absent,
      succeeded_at: absent,
      failed_at: absent,
      refunded_at: absent,
      amount_details: absent,
    }),
  ),
});
