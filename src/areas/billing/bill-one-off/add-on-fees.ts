import type { Temporal } from 'temporal-polyfill';
import { isAfter } from '../../../engine/calendar/instants.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import { type Cents, cents, roundToCents } from '../../../engine/money/cents.ts';
import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import { type Decimal, decimal, ONE } from '../../../engine/money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../../../engine/money/precision.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import type { FeeId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { parseInstant } from '../../../platform/schema/instant-field.ts';
import type { AddOnRow } from '../../catalog/add-ons/queries.ts';
import type { OneOffFee } from '../../invoices/invoices/one-off-schema.ts';

/** A fee of a one-off invoice before taxes. */
export interface AddOnFee {
  id: FeeId;
  addOn: Pick<AddOnRow, 'id' | 'code' | 'name'>;
  /** Codes of the taxes that it names itself. */
  taxCodes: readonly string[];
  /** The first of the fees that it is a copy of. */
  originalFeeId?: FeeId;
  description: string | null;
  displayName: string;
  amountCents: Cents;
  preciseAmountCents: Decimal;
  unitAmountCents: Cents;
  preciseUnitAmount: Decimal;
  units: Decimal;
  window: Period;
}

/**
 * A fee of an add-on: `units × unit amount`, rounded. Fields that the line omits come from the add-on; the currency is
 * the invoice's, and the add-on's amount is not converted.
 *
 *   1.5 × 999 → 1499
 *
 * @throws Refusal 422 boundaries
 * Rule: one-off-invoices.md.
 */
export function addOnFee(given: OneOffFee, addOn: AddOnRow, currency: Currency, now: Temporal.Instant): AddOnFee {
  const unitAmountCents = cents(given.unit_amount_cents ?? addOn.amount_cents);
  const units = given.units === undefined || given.units === null ? ONE : decimal(given.units);
  const exact = units.times(unitAmountCents);
  return {
    id: newId(),
    addOn,
    taxCodes: given.tax_codes ?? [],
    description: given.description ?? addOn.description,
    displayName: given.invoice_display_name ?? addOn.invoice_display_name ?? addOn.name,
    amountCents: roundToCents(exact),
    preciseAmountCents: roundToDigits(exact, PRECISE_AMOUNT_DIGITS),
    unitAmountCents,
    preciseUnitAmount: toMainUnit(unitAmountCents, exponentOf(currency)),
    units,
    window: windowOf(given, now),
  };
}

/** The time that a fee is for, its last instant included; now, when none is given. */
function windowOf({ from_datetime, to_datetime }: OneOffFee, now: Temporal.Instant): Period {
  const isGiven = [from_datetime, to_datetime].map((value) => value !== undefined && value !== null);
  const from = isGiven[0] ? instantOf(from_datetime) : now;
  const last = isGiven[1] ? instantOf(to_datetime) : now;
  const isValid = isGiven[0] === isGiven[1] && from !== undefined && last !== undefined && !isAfter(from, last);
  if (!isValid) throw refuse.invalid({ boundaries: ['values_are_invalid'] });
  return { from, to: last.add({ microseconds: 1 }) };
}

const instantOf = (value: unknown): Temporal.Instant | undefined =>
  typeof value === 'string' ? parseInstant(value) : undefined;
