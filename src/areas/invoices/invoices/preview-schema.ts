import { z } from 'zod';
import { COUPON_TYPES } from '../../../engine/credits/coupon.ts';
import { CURRENCIES, isCurrency } from '../../../engine/money/currency.ts';
import { refuse } from '../../../platform/refusal.ts';
import { anyValue, list } from '../../../platform/schema/bounded.ts';
import { cleanText, INVALID, integer, oneOf, optionalText, text } from '../../../platform/schema/fields.ts';
import { instantField, parseInstant } from '../../../platform/schema/instant-field.ts';
import { CODES_MAX, INSTANT_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';
import { addressFields, clearable, timeZone } from '../../../platform/schema/typed-text.ts';
import { PERIODS_MAX, percentage } from '../../catalog/coupons/schema.ts';

/** How many coupons one preview may try, and how many subscriptions one invoice may bill. */
const COUPONS_MAX = 100;
const SUBSCRIPTIONS_MAX = 500;
/** Longest code and external id, as where they are stored. */
const CODE_MAX = 255;

// Contract fields that are not supported yet are rejected by name.
const notYet = anyValue({ max: CODES_MAX })
  .optional()
  .refine(
    (value) => value === undefined || value === null || (Array.isArray(value) && value.length === 0),
    'unsupported_value',
  );

const PreviewCustomer = z.object({
  external_id: optionalText({ max: CODE_MAX }),
  name: cleanText({ max: 255 }),
  currency: clearable(z.string(INVALID).max(CODE_MAX, INVALID).refine(isCurrency, INVALID)),
  timezone: clearable(timeZone()),
  tax_identification_number: cleanText(),
  ...addressFields(),
  shipping_address: z.object(addressFields(), INVALID).nullish(),
  integration_customers: notYet,
});
export type PreviewCustomer = z.infer<typeof PreviewCustomer>;

const TerminatedAt = anyValue({ max: SCALAR_MAX, textMax: INSTANT_MAX, tooMany: 'invalid_timestamp' })
  .optional()
  .transform((value, context) => {
    if (value === undefined || value === null) return undefined;
    const instant = typeof value === 'string' ? parseInstant(value) : undefined;
    if (instant !== undefined) return instant.toString();
    context.addIssue({ code: 'custom', message: 'invalid_timestamp' });
    return z.NEVER;
  });

const PreviewSubscriptions = z.object({
  external_ids: list(text(), { max: SUBSCRIPTIONS_MAX }).nullish(),
  plan_code: optionalText(),
  terminated_at: TerminatedAt,
});

/** A stored coupon by its code, or the terms of one that is made up. */
const PreviewCoupon = z.object({
  code: optionalText({ max: CODE_MAX }),
  name: optionalText(),
  coupon_type: oneOf(COUPON_TYPES).optional(),
  amount_cents: clearable(integer({ min: 1 })),
  amount_currency: clearable(oneOf(CURRENCIES)),
  percentage_rate: percentage(),
  frequency_duration: clearable(integer({ min: 1, max: PERIODS_MAX })),
});
export type PreviewCoupon = z.infer<typeof PreviewCoupon>;

/** Input of `POST /invoices/preview`; an unknown billing time is ignored. Rule: previews.md. */
export const InvoicePreview = z.object({
  customer: PreviewCustomer.nullish(),
  plan_code: optionalText(),
  billing_time: anyValue({ max: SCALAR_MAX })
    .optional()
    .transform((value) => (value === 'anniversary' ? 'anniversary' : 'calendar')),
  subscription_at: instantField().nullish(),
  subscriptions: PreviewSubscriptions.nullish(),
  coupons: list(PreviewCoupon, { max: COUPONS_MAX }).nullish(),
  billing_entity_code: optionalText(),
});
export type InvoicePreview = z.infer<typeof InvoicePreview>;

/** The same after its two lists were checked; a malformed list is 400. */
export const InvoicePreviewBody = z.preprocess((body) => {
  const { coupons, subscriptions } = body as { coupons?: unknown; subscriptions?: unknown };
  if (coupons !== undefined && coupons !== null && !Array.isArray(coupons))
    throw refuse.badRequest('coupons_must_be_an_array');
  if (subscriptions !== undefined && subscriptions !== null && !isObject(subscriptions))
    throw refuse.badRequest('subscriptions_must_be_an_object');
  return body;
}, InvoicePreview);

const isObject = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);
