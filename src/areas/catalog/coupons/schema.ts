import { z } from 'zod';
import { COUPON_FREQUENCIES, COUPON_TYPES } from '../../../engine/credits/coupon.ts';
import { CURRENCIES } from '../../../engine/money/currency.ts';
import { Decimal } from '../../../engine/money/decimal.ts';
import {
  boolean,
  decimalInput,
  INVALID,
  integer,
  OUT_OF_RANGE,
  oneOf,
  optionalText,
  text,
} from '../../../platform/schema/fields.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';
import { PROSE_MAX } from '../../../platform/schema/sizes.ts';
import { clearable, textList } from '../../../platform/schema/typed-text.ts';

export const EXPIRATIONS = ['no_expiration', 'time_limit'] as const;

/** Longest code: an index of the database holds it. */
const CODE_MAX = 255;
/** More than any number of billing periods, and what the column holds. */
export const PERIODS_MAX = 2_147_483_647;
// The largest percentage that the column holds: 10 digits, 5 of them decimals.
const PERCENT_MAX = new Decimal('99999.99999');

/** Percentage of a coupon: 0 or more; above 100 acts as 100. */
export const percentage = () =>
  clearable(
    decimalInput().refine((rate) => new Decimal(rate).gte(0) && new Decimal(rate).lte(PERCENT_MAX), OUT_OF_RANGE),
  );

const reusable = () =>
  z
    .preprocess((value, context) => {
      if (value !== null) return value;
      context.addIssue({ code: 'custom', message: 'value_is_reserved' });
      return z.NEVER;
    }, boolean())
    .optional();

const fields = {
  name: text(),
  code: text({ max: CODE_MAX }),
  description: optionalText({ max: PROSE_MAX }),
  coupon_type: oneOf(COUPON_TYPES),
  amount_cents: clearable(integer({ min: 1 })),
  amount_currency: clearable(oneOf(CURRENCIES)),
  percentage_rate: percentage(),
  frequency: oneOf(COUPON_FREQUENCIES),
  frequency_duration: clearable(integer({ min: 1, max: PERIODS_MAX })),
  reusable: reusable(),
  expiration: oneOf(EXPIRATIONS),
  expiration_at: clearable(instantField()),
  applies_to: z.object({ plan_codes: textList(), billable_metric_codes: textList() }, INVALID).nullish(),
};

/** Input of `POST /coupons`. Rule: coupons.md#fields. */
export const CouponCreate = z.object({ ...fields, coupon_type: fields.coupon_type.default('fixed_amount') });
export type CouponCreate = z.infer<typeof CouponCreate>;

/** Input of `PUT /coupons/{code}`: what is absent stays. */
export const CouponUpdate = z.object(fields).partial();
export type CouponUpdate = z.infer<typeof CouponUpdate>;
