import { Temporal } from 'temporal-polyfill';
import { Decimal } from '../../../engine/money/decimal.ts';
import { roundToDigits } from '../../../engine/money/precision.ts';
import type { CouponDefinition, CouponRow } from './queries.ts';
import type { CouponCreate, CouponUpdate } from './schema.ts';

/** Decimals of a stored percentage (money-and-days.md#stored-precision). */
const PERCENT_DIGITS = 5;

/** A percentage as it is stored. */
export const percentageOf = (text: string): Decimal => roundToDigits(new Decimal(text), PERCENT_DIGITS);

/** Fields of a coupon except its limits: the input over what is stored. Fields that do not apply are null. */
export function definitionOf(
  body: CouponCreate | CouponUpdate,
  stored?: CouponRow,
): Omit<CouponDefinition, 'limited_plans' | 'limited_billable_metrics'> {
  const pick = <Value>(given: Value | undefined, kept: Value | undefined, otherwise: Value): Value =>
    given === undefined ? (kept ?? otherwise) : given;
  const couponType = body.coupon_type ?? stored?.coupon_type ?? 'fixed_amount';
  const frequency = body.frequency ?? stored!.frequency;
  const isFixed = couponType === 'fixed_amount';
  const rate = body.percentage_rate === undefined ? stored?.percentage_rate?.toFixed() : body.percentage_rate;
  return {
    code: body.code ?? stored!.code,
    name: body.name ?? stored!.name,
    description: pick(body.description, stored?.description, null),
    coupon_type: couponType,
    amount_cents: isFixed ? pick(body.amount_cents, stored?.amount_cents, null) : null,
    amount_currency: isFixed ? pick<string | null>(body.amount_currency, stored?.amount_currency, null) : null,
    percentage_rate: isFixed || rate === undefined || rate === null ? null : percentageOf(rate),
    frequency,
    frequency_duration:
      frequency === 'recurring' ? pick(body.frequency_duration, stored?.frequency_duration, null) : null,
    reusable: body.reusable ?? stored?.reusable ?? true,
    expiration: body.expiration ?? stored!.expiration,
    expiration_at: pick(
      body.expiration_at === undefined ? undefined : instantOrNull(body.expiration_at),
      stored?.expiration_at,
      null,
    ),
  };
}

const instantOrNull = (text: string | null) => (text === null ? null : Temporal.Instant.from(text));

/** Faults of a definition by field; an expiration that is sent must be in the future. Rule: coupons.md#fields. */
export function definitionFaults(
  definition: ReturnType<typeof definitionOf>,
  now: Temporal.Instant,
  stored?: CouponRow,
): Record<string, string[]> {
  const missing = ['value_is_mandatory'];
  const isFixed = definition.coupon_type === 'fixed_amount';
  return {
    ...(isFixed && definition.amount_cents === null ? { amount_cents: missing } : {}),
    ...(isFixed && definition.amount_currency === null ? { amount_currency: missing } : {}),
    ...(!isFixed && definition.percentage_rate === null ? { percentage_rate: missing } : {}),
    ...(definition.frequency === 'recurring' && definition.frequency_duration === null
      ? { frequency_duration: missing }
      : {}),
    ...(isLimitValid(definition, now, stored) ? {} : { expiration_at: ['invalid_date'] }),
  };
}

function isLimitValid(
  { expiration, expiration_at: limit }: ReturnType<typeof definitionOf>,
  now: Temporal.Instant,
  stored?: CouponRow,
): boolean {
  if (expiration !== 'time_limit') return true;
  if (limit === null) return false;
  const isKept = stored?.expiration === 'time_limit' && stored.expiration_at?.equals(limit) === true;
  return isKept || Temporal.Instant.compare(limit, now) > 0;
}

/** Fields that may always change. */
const EDITABLE: ReadonlySet<string> = new Set(['name', 'description', 'expiration', 'expiration_at']);

/** Fields that a coupon keeps once a customer had it. Rules: coupons.md#fields, everywhere.md#no-feature-switches. */
export function frozenFaults(definition: ReturnType<typeof definitionOf>, stored: CouponRow): Record<string, string[]> {
  const changed = Object.entries(definition).filter(
    ([field, value]) => !EDITABLE.has(field) && String(value) !== String(stored[field as keyof CouponRow]),
  );
  return Object.fromEntries(changed.map(([field]) => [field, ['value_is_frozen']]));
}
