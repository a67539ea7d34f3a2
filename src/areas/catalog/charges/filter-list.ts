import type { Temporal } from 'temporal-polyfill';
import type { FilterValues } from '../../../engine/metrics/choose-filter.ts';
import type { ChargeModelName } from '../../../engine/pricing/charge-models.ts';
import type { FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import { isPriced } from '../../../engine/pricing/price.ts';
import { validateProperties } from '../../../engine/pricing/validate-properties.ts';
import { newId } from '../../../platform/ids.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { addFaults } from '../../../platform/schema/faults.ts';
import { filterCode, identityOf, valuesFaults } from './filter-values.ts';
import type { ChargeFilterRow, ChargeRow } from './queries.ts';
import type { ChargeFilterCreate } from './schema.ts';

interface FilterListInput {
  charge: Pick<ChargeRow, 'id' | 'charge_model'>;
  given: readonly ChargeFilterCreate[];
  stored: readonly ChargeFilterRow[];
  /** The values that the metric declares. */
  declared: FilterValues;
  now: Temporal.Instant;
}

/**
 * The complete list of a charge's filters as it will be, in the order given, and everything that is wrong with it. A
 * filter with the values of a stored one is that one, changed. Rule: groups-and-filters.md#filters-of-a-charge.
 */
export function filterListOf(input: FilterListInput): { filters: ChargeFilterRow[]; faults: FieldCodes } {
  const faults: FieldCodes = {};
  const left = groupRows(input.stored, ({ values }) => identityOf(values));
  const kept = input.given.map(({ values }) => left.get(identityOf(values))?.shift());
  const codes = new Set(kept.flatMap((filter) => (filter ? [filter.code] : [])));
  const filters = input.given.map((given, position) => {
    const values = withoutRepeats(given.values);
    const at = ['filters', position];
    addFaults(faults, valuesFaults(values, input.declared), at);
    const checked = checkedProperties(input.charge.charge_model, given.properties);
    addFaults(faults, checked.faults, at);
    const old = kept[position];
    const code = old?.code ?? filterCode(values, codes);
    codes.add(code);
    return {
      id: old?.id ?? newId(),
      charge_id: input.charge.id,
      code,
      invoice_display_name: given.invoice_display_name?.trim() ? given.invoice_display_name : null,
      values,
      properties: checked.properties,
      position,
      created_at: old?.created_at ?? input.now,
    };
  });
  return { filters, faults };
}

/** Properties of a filter as they are stored; a model that is not priced is refused at the charge. */
export function checkedProperties(
  model: ChargeModelName,
  given: unknown,
): { properties: ChargeFilterRow['properties']; faults: FieldCodes } {
  if (!isPriced(model)) return { properties: {}, faults: {} };
  const checked = validateProperties(model, given, { isFilter: true });
  return checked.ok
    ? { properties: checked.properties, faults: {} }
    : { properties: {}, faults: { properties: checked.codes } };
}

/** Every value of a key once. */
export const withoutRepeats = (values: FilterValues): FilterValues =>
  Object.fromEntries(Object.entries(values).map(([key, texts]) => [key, [...new Set(texts)]]));
