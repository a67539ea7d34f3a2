import type { FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import { addFaults } from '../../../platform/schema/faults.ts';
import { TOO_LONG } from '../../../platform/schema/fields.ts';
import type { GivenCharge } from './prepare-charges.ts';
import type { ChargeShown } from './show-charges.ts';

/** How many charges of usage a plan may have, and how many fixed ones: every reading of usage prices them all. */
export const CHARGES_MAX = 500;
/** How many filters a charge may have: each is compared with every event and priced at every reading of usage. */
export const FILTERS_MAX = 500;
/**
 * How many filters all charges of a plan may have together: as many as ten full charges. Measured: reading usage takes
 * half a second of the processor with so many; with all charges full there would be 250 000.
 */
export const PLAN_FILTERS_MAX = 5000;

const totalFilters = (charges: readonly Pick<ChargeShown, 'filters'>[]): number =>
  charges.reduce((total, { filters }) => total + filters.length, 0);

/**
 * What is wrong with the size of a plan that gets or changes `given` charges and keeps `others`. A plan that was larger
 * before the limit existed keeps its charges and accepts no more.
 *
 * Rule: everywhere.md#bounded-cost.
 */
export function sizeFaults(given: readonly GivenCharge[], others: readonly ChargeShown[]): FieldCodes {
  const faults: FieldCodes = {};
  const stored = [...others, ...given.flatMap((each) => each.stored ?? [])];
  if (given.length + others.length > Math.max(CHARGES_MAX, stored.length)) addFaults(faults, { charges: [TOO_LONG] });
  const mostFilters = Math.max(PLAN_FILTERS_MAX, totalFilters(stored));
  let filters = totalFilters(others);
  for (const { given: input, stored: former, at } of given) {
    filters += (input.filters ?? former?.filters ?? []).length;
    if (filters <= mostFilters) continue;
    addFaults(faults, { filters: [TOO_LONG] }, at);
    break;
  }
  return faults;
}

/** How many filters one of the charges of a plan may still get. */
export const roomForFilters = ({ filters }: Pick<ChargeShown, 'filters'>, ofPlan: readonly ChargeShown[]): number =>
  Math.max(0, Math.min(FILTERS_MAX - filters.length, PLAN_FILTERS_MAX - totalFilters(ofPlan)));
