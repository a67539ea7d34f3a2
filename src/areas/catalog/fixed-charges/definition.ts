import { decimal } from '../../../engine/money/decimal.ts';
import { roundToDigits } from '../../../engine/money/precision.ts';
import type { FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import { fixedChargeFaults } from '../../../engine/pricing/fixed-charge-rules.ts';
import { validateProperties } from '../../../engine/pricing/validate-properties.ts';
import type { FixedChargeRow } from './queries.ts';
import type { FixedChargeElement } from './schema.ts';

/** A fixed charge as it will be, apart from its identity and add-on. `code` is null until one is generated. */
export type FixedChargeDefinition = Pick<
  FixedChargeRow,
  'charge_model' | 'invoice_display_name' | 'units' | 'pay_in_advance' | 'prorated' | 'properties'
> & { code: string | null };

/** Fractional digits of units. */
const UNITS_DIGITS = 10;

/**
 * Always frozen, and frozen once a subscription uses the plan. Rules: fixed-charges.md#fields,
 * plans.md#charges-of-a-plan.
 */
const FROZEN = ['pay_in_advance', 'prorated'] as const;
const FROZEN_IN_USE = ['charge_model', 'code'] as const;

/** A fixed charge as it will be: what was sent over what is stored. Properties of another model do not carry over. */
export function definitionOf(given: FixedChargeElement, stored?: FixedChargeRow): FixedChargeDefinition {
  const model = given.charge_model ?? stored!.charge_model;
  const isOfOtherModel = stored !== undefined && model !== stored.charge_model;
  const name = given.invoice_display_name === undefined ? stored?.invoice_display_name : given.invoice_display_name;
  return {
    code: given.code ?? stored?.code ?? null,
    charge_model: model,
    invoice_display_name: name?.trim() ? name : null,
    units:
      given.units === undefined ? (stored?.units ?? decimal(0)) : roundToDigits(decimal(given.units), UNITS_DIGITS),
    pay_in_advance: given.pay_in_advance ?? stored?.pay_in_advance ?? false,
    prorated: given.prorated ?? stored?.prorated ?? false,
    properties: given.properties ?? (given.properties === null || isOfOtherModel ? {} : (stored?.properties ?? {})),
  };
}

/**
 * A fixed charge with its properties as they are stored, and everything that is wrong with it.
 * Rules: fixed-charges.md#fields, charges.md#properties.
 */
export function checkedFixedCharge(definition: FixedChargeDefinition): {
  definition: FixedChargeDefinition;
  faults: FieldCodes;
} {
  const faults = { ...fixedChargeFaults(definition) };
  const {
    pricing_group_keys: _pricing,
    grouped_by: _grouped,
    presentation_group_keys: _shown,
    ...own
  } = definition.properties;
  const checked = validateProperties(definition.charge_model, own);
  if (!checked.ok) return { definition, faults: { ...faults, properties: checked.codes } };
  return { definition: { ...definition, properties: checked.properties }, faults };
}

/** Frozen fields that would change. */
export function frozenFaults(
  stored: FixedChargeRow,
  changed: FixedChargeDefinition,
  { isInUse }: { isInUse: boolean },
): FieldCodes {
  const fields = [...FROZEN, ...(isInUse ? FROZEN_IN_USE : [])].filter((field) => stored[field] !== changed[field]);
  return Object.fromEntries(fields.map((field) => [field, ['value_is_frozen']]));
}
