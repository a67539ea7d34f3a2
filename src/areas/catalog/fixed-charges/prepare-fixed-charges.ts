import type { FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import type { Context } from '../../../platform/context.ts';
import type { Path } from '../../../platform/found-places.ts';
import type { PlanId, TaxId } from '../../../platform/ids.ts';
import { isUuid, newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { addFaults } from '../../../platform/schema/faults.ts';
import { type AddOnRow, findAddOns } from '../add-ons/queries.ts';
import { firstFree } from '../charges/filter-values.ts';
import { findTaxesByCodes } from '../taxes/queries.ts';
import { checkedFixedCharge, definitionOf, frozenFaults } from './definition.ts';
import type { FixedChargeRow } from './queries.ts';
import type { FixedChargeElement } from './schema.ts';
import type { FixedChargeShown } from './show-fixed-charges.ts';

/** A fixed charge that was sent, with the stored one that it changes. */
export interface GivenFixedCharge {
  given: FixedChargeElement;
  stored?: FixedChargeShown | undefined;
  /** Where it stands in the input; absent for an input that is a fixed charge. */
  at?: Path;
}

/** A fixed charge ready to save. */
export interface PreparedFixedCharge {
  fixedCharge: FixedChargeRow;
  /** As it was; absent for a new one. */
  former?: FixedChargeRow | undefined;
  /** Whether new units hold at once. */
  isImmediate: boolean;
  /** The whole list, when it is rewritten. */
  taxIds?: TaxId[] | undefined;
}

interface PrepareInput {
  planId: PlanId;
  /** A subscription uses the plan. */
  isFrozen: boolean;
  given: readonly GivenFixedCharge[];
  /** Codes of the plan's fixed charges that are not among the given ones and stay. */
  otherCodes: readonly string[];
  /** What a 404 names when an add-on is unknown. */
  missing: 'add_on' | 'add_ons';
}

/**
 * Checks fixed charges of one plan and makes them ready to save.
 *
 * @returns the fixed charges, and everything that is wrong with any of them
 * @throws Refusal 404 add_on(s), tax
 * Rule: fixed-charges.md#fields.
 */
export async function prepareFixedCharges(
  ctx: Context,
  { planId, isFrozen, given, otherCodes, missing }: PrepareInput,
): Promise<{ fixedCharges: PreparedFixedCharge[]; faults: FieldCodes }> {
  const faults: FieldCodes = {};
  const wanted = given.filter((each) => hasKind(each, faults));
  const addOnOf = await addOnsOf(ctx, wanted, missing);
  const taxCodes = given.flatMap((each) => each.given.tax_codes ?? []);
  const taxes = await findTaxesByCodes(ctx, taxCodes);
  const taxIds = new Map(taxes.map(({ code, id }) => [code, id]));

  const defined = wanted.map(({ given, stored, at }) => {
    const { definition, faults: own } = checkedFixedCharge(definitionOf(given, stored?.fixedCharge));
    addFaults(faults, own, at);
    if (stored) addFaults(faults, frozenFaults(stored.fixedCharge, definition, { isInUse: isFrozen }), at);
    if (stored && namesOtherAddOn(given, stored.fixedCharge)) addFaults(faults, { add_on: ['value_is_frozen'] }, at);
    return { given, stored, at, definition, addOn: addOnOf({ given, stored }) };
  });
  const codes = codesOf(defined, otherCodes, faults);

  const fixedCharges = defined.map(
    ({ given, stored, definition, addOn }, index): PreparedFixedCharge => ({
      fixedCharge: {
        ...definition,
        id: stored?.fixedCharge.id ?? newId(),
        plan_id: planId,
        parent_id: stored?.fixedCharge.parent_id ?? null,
        ...addOn,
        code: codes[index]!,
        created_at: stored?.fixedCharge.created_at ?? ctx.now(),
      },
      former: stored?.fixedCharge,
      isImmediate: given.apply_units_immediately ?? false,
      taxIds: given.tax_codes?.map((code) => taxIds.get(code)!),
    }),
  );
  return { fixedCharges, faults };
}

/** Whether it is known what is priced and how. */
function hasKind({ given, stored, at }: GivenFixedCharge, faults: FieldCodes): boolean {
  if (stored) return true;
  const namesAddOn = Boolean(given.add_on_id ?? given.add_on_code);
  if (!namesAddOn) addFaults(faults, { add_on: ['value_is_mandatory'] }, at);
  if (given.charge_model === undefined) addFaults(faults, { charge_model: ['value_is_invalid'] }, at);
  return namesAddOn && given.charge_model !== undefined;
}

type AddOnOfRow = Pick<
  FixedChargeRow,
  'add_on_id' | 'add_on_code' | 'add_on_name' | 'add_on_full_name' | 'add_on_description'
>;

async function addOnsOf(
  ctx: Context,
  wanted: readonly GivenFixedCharge[],
  missing: string,
): Promise<(each: GivenFixedCharge) => AddOnOfRow> {
  const fresh = wanted.filter(({ stored }) => !stored).map(({ given }) => given);
  const ids = fresh.flatMap(({ add_on_id }) => (add_on_id ? [add_on_id.toLowerCase()] : []));
  const codes = fresh.flatMap(({ add_on_id, add_on_code }) => (!add_on_id && add_on_code ? [add_on_code] : []));
  const rows = fresh.length === 0 ? [] : await findAddOns(ctx, { ids: ids.filter(isUuid), codes });
  const byId = new Map(rows.map((row) => [row.id, row]));
  const byCode = new Map(rows.map((row) => [row.code, row]));
  if (ids.some((id) => !byId.has(id)) || codes.some((code) => !byCode.has(code))) throw refuse.notFound(missing);
  return ({ given, stored }) => {
    if (stored) return addOnOfStored(stored.fixedCharge);
    return addOnColumns(given.add_on_id ? byId.get(given.add_on_id.toLowerCase())! : byCode.get(given.add_on_code!)!);
  };
}

const addOnOfStored = (stored: FixedChargeRow): AddOnOfRow => ({
  add_on_id: stored.add_on_id,
  add_on_code: stored.add_on_code,
  add_on_name: stored.add_on_name,
  add_on_full_name: stored.add_on_full_name,
  add_on_description: stored.add_on_description,
});

const addOnColumns = (addOn: AddOnRow): AddOnOfRow => ({
  add_on_id: addOn.id,
  add_on_code: addOn.code,
  add_on_name: addOn.invoice_display_name ?? addOn.name,
  add_on_full_name: addOn.name,
  add_on_description: addOn.description,
});

const namesOtherAddOn = ({ add_on_id, add_on_code }: FixedChargeElement, stored: FixedChargeRow): boolean =>
  (add_on_id ? add_on_id.toLowerCase() !== stored.add_on_id : false) ||
  (add_on_code ? add_on_code !== stored.add_on_code : false);

/** Codes: those named first, then generated ones. */
function codesOf(
  defined: readonly { definition: { code: string | null }; addOn: AddOnOfRow; at?: Path | undefined }[],
  otherCodes: readonly string[],
  faults: FieldCodes,
): string[] {
  const taken = new Set(otherCodes);
  for (const { definition, at } of defined) {
    if (definition.code === null) continue;
    if (taken.has(definition.code)) addFaults(faults, { code: ['value_already_exist'] }, at);
    taken.add(definition.code);
  }
  return defined.map(({ definition, addOn }) => {
    const code = definition.code ?? firstFree(addOn.add_on_code, taken);
    taken.add(code);
    return code;
  });
}
