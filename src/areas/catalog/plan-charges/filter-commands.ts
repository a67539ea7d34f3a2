import { assert } from '../../../engine/assert.ts';
import type { FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import type { Context } from '../../../platform/context.ts';
import type { ChargeFilterId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { addFaults, refuseFaults } from '../../../platform/schema/faults.ts';
import { TOO_LONG } from '../../../platform/schema/fields.ts';
import { declaredValues, lockBillableMetrics } from '../billable-metrics/queries.ts';
import { checkedProperties, withoutRepeats } from '../charges/filter-list.ts';
import { filterCode, identityOf, valuesFaults } from '../charges/filter-values.ts';
import { roomForFilters } from '../charges/most-charges.ts';
import type { ChargeFilterRow } from '../charges/queries.ts';
import type { CascadeBody, ChargeFilterCreate, ChargeFilterUpdate } from '../charges/schema.ts';
import type { ChargeShown } from '../charges/show-charges.ts';
import { chargeFilterView } from '../charges/view.ts';
import { deleteFilter, upsertFilters } from '../charges/writes.ts';
import type { PlanShown } from '../plans/show-plans.ts';
import { changeWithinPlan, chargeOf } from './within-plan.ts';

interface Address {
  code: string;
  charge_code: string;
}

/**
 * Adds a filter to a charge of a plan, at the end of its list.
 *
 * @throws Refusal 404 plan, charge
 * @throws Refusal 422 by field; values: value_already_exist
 * Rule: groups-and-filters.md#filters-of-a-charge.
 */
export const createPlanChargeFilter = (ctx: Context, { body, ...address }: Address & { body: ChargeFilterCreate }) =>
  changeFilter(ctx, address, body, (shown, plan) => addFilter(ctx, plan, shown, body));

/**
 * Changes name and properties of a charge filter, which then stands last: filters are ordered by their last change.
 *
 * @throws Refusal 404 plan, charge, charge_filter
 * @throws Refusal 422 properties; values: value_is_frozen
 */
export const updatePlanChargeFilter = (
  ctx: Context,
  { filter_id, body, ...address }: Address & { filter_id: ChargeFilterId; body: ChargeFilterUpdate },
) => changeFilter(ctx, address, body, (shown) => editFilter(ctx, shown, filterOf(shown, filter_id), body));

/** @throws Refusal 404 plan, charge, charge_filter */
export function deletePlanChargeFilter(
  ctx: Context,
  { filter_id, body, ...address }: Address & { filter_id: ChargeFilterId; body?: CascadeBody },
) {
  return changeFilter(ctx, address, body, async (shown) => {
    const filter = filterOf(shown, filter_id);
    await deleteFilter(ctx, filter.id, ctx.now());
    return filter;
  });
}

async function changeFilter(
  ctx: Context,
  { code, charge_code }: Address,
  body: CascadeBody | undefined,
  change: (shown: ChargeShown, plan: PlanShown) => Promise<ChargeFilterRow>,
) {
  let answer: ReturnType<typeof chargeFilterView> | undefined;
  await changeWithinPlan(ctx, code, body, async (before) => {
    const shown = chargeOf(before, charge_code);
    answer = chargeFilterView(await change(shown, before), shown.charge);
    return [shown.charge.billable_metric_id];
  });
  return { filter: answer! };
}

/**
 * Adds a filter to a charge, of a plan or of an override.
 *
 * @throws Refusal 422 by field; values: value_already_exist; filters: value_is_too_long
 */
export async function addFilter(
  ctx: Context,
  { charges }: PlanShown,
  shown: ChargeShown,
  body: ChargeFilterCreate,
): Promise<ChargeFilterRow> {
  const { charge, filters } = shown;
  if (roomForFilters(shown, charges) === 0) throw refuse.invalid({ filters: [TOO_LONG] });
  const [metric] = await lockBillableMetrics(ctx, [charge.billable_metric_id]);
  assert(metric, 'a live charge has a live metric');
  const values = withoutRepeats(body.values);
  const { properties, faults } = checkedProperties(charge.charge_model, body.properties);
  addFaults(faults, valuesFaults(values, declaredValues(metric)));
  if (filters.some((filter) => identityOf(filter.values) === identityOf(values)))
    addFaults(faults, { values: ['value_already_exist'] });
  refuseFaults(faults);

  const filter: ChargeFilterRow = {
    id: newId(),
    charge_id: charge.id,
    code: filterCode(values, new Set(filters.map((each) => each.code))),
    invoice_display_name: body.invoice_display_name?.trim() ? body.invoice_display_name : null,
    values,
    properties,
    position: positionAtEnd(shown),
    created_at: ctx.now(),
  };
  await upsertFilters(ctx, [filter], ctx.now());
  return filter;
}

/**
 * Changes name and properties of a filter, of a plan or of an override.
 *
 * @throws Refusal 422 properties; values: value_is_frozen
 */
export async function editFilter(
  ctx: Context,
  shown: ChargeShown,
  stored: ChargeFilterRow,
  body: ChargeFilterUpdate,
): Promise<ChargeFilterRow> {
  const faults: FieldCodes = {};
  if (body.values !== undefined && identityOf(withoutRepeats(body.values)) !== identityOf(stored.values))
    addFaults(faults, { values: ['value_is_frozen'] });
  const checked =
    body.properties === undefined || body.properties === null
      ? { properties: stored.properties, faults: {} }
      : checkedProperties(shown.charge.charge_model, body.properties);
  addFaults(faults, checked.faults);
  refuseFaults(faults);

  const name = body.invoice_display_name;
  const filter: ChargeFilterRow = {
    ...stored,
    invoice_display_name: name === undefined ? stored.invoice_display_name : name?.trim() ? name : null,
    properties: checked.properties,
    position: positionAtEnd(shown),
  };
  await upsertFilters(ctx, [filter], ctx.now());
  return filter;
}

function filterOf({ filters }: ChargeShown, id: ChargeFilterId): ChargeFilterRow {
  const filter = filters.find((each) => each.id === id.toLowerCase());
  if (!filter) throw refuse.notFound('charge_filter');
  return filter;
}

const positionAtEnd = ({ filters }: ChargeShown): number =>
  Math.max(-1, ...filters.map(({ position }) => position)) + 1;
