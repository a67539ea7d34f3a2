import { Temporal } from 'temporal-polyfill';
import { isAfter } from '../../../engine/calendar/instants.ts';
import { bookedCredits } from '../../../engine/credits/wallet-money.ts';
import { AmountOutOfRange } from '../../../engine/money/cents.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, PaymentMethodId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { findMethod } from '../../customers/payment-methods/queries.ts';
import { isWithinLimits, limitFault, type ReadRule } from './top-up-rule-input.ts';

/** Codes by field; `{}` when nothing is wrong. */
type Faults = Record<string, string[]>;

/** Rules of an input, or what is wrong with them as one code. */
export function readRules(givenRules: unknown, read: (given: unknown) => ReadRule | undefined): ReadRule[] | string {
  if (givenRules === undefined || givenRules === null) return [];
  if (!Array.isArray(givenRules)) return 'invalid_recurring_rule';
  if (givenRules.length > 1) return 'invalid_number_of_recurring_rules';
  const rules = givenRules.map(read);
  return rules.every((rule) => rule !== undefined) ? rules : 'invalid_recurring_rule';
}

/** Codes of credits that are bought or given: worth nothing, more than an amount can hold, beyond the limits. */
export function creditFaults(
  field: string,
  credits: string | null,
  { limits, ignoresLimits }: { limits: Parameters<typeof limitFault>[1]; ignoresLimits: boolean },
): Record<string, string[]> {
  if (credits === null || decimal(credits).isZero()) return {};
  try {
    if (bookedCredits(decimal(credits), limits).amountCents === 0) return { [field]: ['amount_rounds_to_zero'] };
    const fault = ignoresLimits ? undefined : limitFault(decimal(credits), limits);
    return fault === undefined ? {} : { [field]: [fault] };
  } catch (error) {
    if (!(error instanceof AmountOutOfRange)) throw error;
    return { [field]: [`invalid_${field}`, 'invalid_amount'] };
  }
}

export const expirationFaults = (
  expirationAt: string | null | undefined,
  now: Temporal.Instant,
): Record<string, string[]> =>
  expirationAt == null || isAfter(Temporal.Instant.from(expirationAt), now) ? {} : { expiration_at: ['invalid_date'] };

export const rangeFaults = (min: number | null, max: number | null): Record<string, string[]> =>
  min === null || max === null || max >= min
    ? {}
    : { paid_top_up_max_amount_cents: ['must_be_greater_than_or_equal_min'] };

/** Whether the customer has the payment method that is named. */
export async function methodFaults(
  ctx: Context,
  customerId: CustomerId,
  method: { payment_method_id?: PaymentMethodId | null | undefined } | null | undefined,
): Promise<Faults> {
  const id = method?.payment_method_id;
  if (!id) return {};
  const found = isUuid(id) ? await findMethod(ctx, customerId, id) : undefined;
  return found ? {} : { payment_method: ['invalid_payment_method'] };
}

/**
 * What is wrong with the rules of an input: their form, the limits of the wallet, a payment method that is not there.
 */
export async function ruleFaults(
  ctx: Context,
  customerId: CustomerId,
  rules: ReadRule[] | string,
  limits: Parameters<typeof limitFault>[1],
): Promise<Faults> {
  if (typeof rules === 'string') return { recurring_transaction_rules: [rules] };
  for (const { fields } of rules) {
    const isPayable = Object.keys(await methodFaults(ctx, customerId, fields)).length === 0;
    if (!isPayable || !isWithinLimits(fields, limits))
      return { recurring_transaction_rules: ['invalid_recurring_rule'] };
  }
  return {};
}
