import { type Decimal, decimal, ONE } from '../../../engine/money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../../../engine/money/precision.ts';
import type { FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import type { Context } from '../../../platform/context.ts';
import { addFaults } from '../../../platform/schema/faults.ts';
import { decimalInput, INVALID } from '../../../platform/schema/fields.ts';
import { lockPricingUnitsByCode } from '../pricing-units/queries.ts';
import type { ChargeRow } from './queries.ts';
import type { ChargeElement } from './schema.ts';

/** Largest rate: what its column holds, far above any real rate. */
const MAX_RATE = decimal('1e24');
const Rate = decimalInput();

type Given = ChargeElement['applied_pricing_unit'];
type Applied = Pick<ChargeRow, 'pricing_unit_id' | 'pricing_unit_code' | 'conversion_rate'>;

/** Ids of pricing units by code. */
export type PricingUnits = ReadonlyMap<string, string>;

/** The field in which a charge names its unit and rate. */
const AT = ['applied_pricing_unit'];

const NONE: Applied = { pricing_unit_id: null, pricing_unit_code: null, conversion_rate: null };

/** The pricing units that charges name, kept from being deleted until the transaction ends. */
export async function pricingUnitsOf(ctx: Context, given: readonly Given[]): Promise<PricingUnits> {
  const codes = [...new Set(given.flatMap((unit) => (unit?.code ? [unit.code] : [])))];
  if (codes.length === 0) return new Map();
  const rows = await lockPricingUnitsByCode(ctx, codes);
  return new Map(rows.map(({ code, id }) => [code, id]));
}

/**
 * The pricing unit of a charge. The unit of a stored charge stays; only its rate may change.
 *
 * Rule: pricing-units.md.
 */
export function pricingUnitOf(
  given: Given,
  stored: Applied | undefined,
  units: PricingUnits,
  faults: FieldCodes,
): Applied {
  const { pricing_unit_id, pricing_unit_code, conversion_rate } = stored ?? NONE;
  const former: Applied = { pricing_unit_id, pricing_unit_code, conversion_rate };
  if (given === undefined) return former;
  const isSilent = given === null || (!given.code && (given.conversion_rate ?? null) === null);
  if (stored) {
    const isOther = isSilent ? given === null && former.pricing_unit_id !== null : isOtherUnit(given, former);
    if (isOther) addFaults(faults, { applied_pricing_unit: ['value_is_frozen'] });
    return isSilent ? former : { ...former, conversion_rate: rateOf(given, faults) ?? former.conversion_rate };
  }
  if (isSilent) return NONE;
  const id = given?.code ? units.get(given.code) : undefined;
  if (id === undefined) addFaults(faults, { pricing_unit: ['relation_must_exist'] }, AT);
  const rate = rateOf(given, faults);
  if (rate === null) addFaults(faults, { conversion_rate: ['value_is_mandatory'] }, AT);
  return { pricing_unit_id: id ?? null, pricing_unit_code: given?.code ?? null, conversion_rate: rate };
}

const isOtherUnit = (given: Given, former: Applied): boolean =>
  former.pricing_unit_id === null || (!!given?.code && given.code !== former.pricing_unit_code);

function rateOf(given: Given, faults: FieldCodes): Decimal | null {
  if (given?.conversion_rate === undefined || given.conversion_rate === null) return null;
  const parsed = Rate.safeParse(given.conversion_rate);
  if (!parsed.success) {
    addFaults(faults, { conversion_rate: [INVALID] }, AT);
    return ONE;
  }
  const rate = roundToDigits(decimal(parsed.data), PRECISE_AMOUNT_DIGITS);
  if (!rate.gt(0) || rate.gte(MAX_RATE)) addFaults(faults, { conversion_rate: ['value_is_out_of_range'] }, AT);
  return rate;
}
