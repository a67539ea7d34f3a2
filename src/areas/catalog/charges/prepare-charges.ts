import type { FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import { conversionFaults } from '../../../engine/pricing/dynamic.ts';
import type { Context } from '../../../platform/context.ts';
import type { Path } from '../../../platform/found-places.ts';
import type { PlanId, TaxId } from '../../../platform/ids.ts';
import { isUuid, newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { addFaults } from '../../../platform/schema/faults.ts';
import { type BillableMetricRow, declaredValues, lockBillableMetrics } from '../billable-metrics/queries.ts';
import { findTaxesByCodes } from '../taxes/queries.ts';
import { type ChargeDefinition, checkedCharge, definitionOf, frozenFaults } from './definition.ts';
import { filterListOf } from './filter-list.ts';
import { firstFree } from './filter-values.ts';
import { sizeFaults } from './most-charges.ts';
import { type PricingUnits, pricingUnitOf, pricingUnitsOf } from './pricing-unit.ts';
import type { ChargeFilterRow, ChargeRow } from './queries.ts';
import type { ChargeElement, ChargeFilterCreate } from './schema.ts';
import type { ChargeShown } from './show-charges.ts';

/** A charge that was sent, with the stored one that it changes. */
export interface GivenCharge {
  given: ChargeElement;
  stored?: ChargeShown | undefined;
  /** Where it stands in the input; absent for an input that is a charge. */
  at?: Path;
}

/** A charge ready to save. */
export interface PreparedCharge {
  charge: ChargeRow;
  /** The whole list, when it is rewritten. */
  filters?: ChargeFilterRow[] | undefined;
  /** The whole list, when it is rewritten. */
  taxIds?: TaxId[] | undefined;
}

interface PrepareInput {
  planId: PlanId;
  /** The plan's. */
  currency: string;
  /** A subscription uses the plan: most of a charge is frozen. */
  isFrozen: boolean;
  /** The plan is an override: its spending minimums may still change. */
  isOverride?: boolean;
  given: readonly GivenCharge[];
  /** The plan's charges that stay and are not among the given ones. */
  others: readonly ChargeShown[];
  /** What a 404 names when a metric is unknown. */
  missing: 'billable_metric' | 'billable_metrics';
}

interface WantedCharge extends GivenCharge {
  definition: ChargeDefinition;
}

interface ChargeToPrepare extends WantedCharge {
  metric: BillableMetricRow;
  code: string;
  /** Pricing units by code. */
  units: PricingUnits;
}

/**
 * Checks charges of one plan and makes them ready to save. Locks their metrics.
 *
 * @returns the charges, and everything that is wrong with any of them: their number first, and then nothing else
 * @throws Refusal 404 billable_metric(s), tax
 */
export async function prepareCharges(
  ctx: Context,
  input: PrepareInput,
): Promise<{ charges: PreparedCharge[]; faults: FieldCodes }> {
  const faults = sizeFaults(input.given, input.others);
  if (Object.keys(faults).length > 0) return { charges: [], faults };
  const wanted = input.given
    .filter((each) => hasKind(each, faults))
    .map((each) => ({ ...each, definition: definitionOf(each.given, each.stored?.charge) }));
  const taxCodes = input.given.flatMap(({ given }) => given.tax_codes ?? []);
  const [metrics, taxes, units] = await Promise.all([
    metricsOf(ctx, wanted, input.missing),
    findTaxesByCodes(ctx, taxCodes),
    pricingUnitsOf(
      ctx,
      input.given.map(({ given }) => given.applied_pricing_unit),
    ),
  ]);
  const codes = codesOf(wanted, metrics, input.others, faults);
  const taxIds = new Map(taxes.map(({ code, id }) => [code, id]));

  const charges = wanted.map((each, index) => {
    const metric = metrics.get(each.definition.billable_metric_id)!;
    const own: FieldCodes = {};
    const { charge, filters } = prepareCharge(ctx, input, { ...each, metric, code: codes[index]!, units }, own);
    addFaults(faults, own, each.at);
    return { charge, filters, taxIds: each.given.tax_codes?.map((code) => taxIds.get(code)!) };
  });
  return { charges, faults };
}

function prepareCharge(
  ctx: Context,
  { planId, currency, isFrozen, isOverride = false }: PrepareInput,
  { given, stored, definition, metric, code, units }: ChargeToPrepare,
  faults: FieldCodes,
): Pick<PreparedCharge, 'charge' | 'filters'> {
  const checked = checkedCharge(definition, metric);
  addFaults(faults, checked.faults);
  if (stored && isFrozen) addFaults(faults, frozenFaults(stored.charge, definition, { isOverride }));
  const pricingUnit = pricingUnitOf(given.applied_pricing_unit, stored?.charge, units, faults);

  const charge: ChargeRow = {
    ...checked.charge,
    ...pricingUnit,
    id: stored?.charge.id ?? newId(),
    plan_id: planId,
    parent_id: stored?.charge.parent_id ?? null,
    billable_metric_code: metric.code,
    code,
    created_at: stored?.charge.created_at ?? ctx.now(),
  };
  const priced = { currency, hasPricingUnit: charge.pricing_unit_id !== null };
  if (charge.charge_model === 'dynamic') addFaults(faults, conversionFaults(charge.properties, priced));
  const list = given.filters ?? reinterpretedFilters(charge, stored);
  if (!list) return { charge };

  const { filters, faults: faultsOfFilters } = filterListOf({
    charge,
    given: list,
    stored: stored?.filters ?? [],
    declared: declaredValues(metric),
    now: ctx.now(),
  });
  addFaults(faults, faultsOfFilters);
  if (charge.charge_model === 'dynamic')
    for (const { properties } of filters) addFaults(faults, conversionFaults(properties, priced));
  return { charge, filters };
}

/** Whether the metric and the charge model are known. */
function hasKind({ given, stored, at }: GivenCharge, faults: FieldCodes): boolean {
  if (stored) return true;
  if (given.billable_metric_id === undefined) addFaults(faults, { billable_metric_id: ['value_is_mandatory'] }, at);
  if (given.charge_model === undefined) addFaults(faults, { charge_model: ['value_is_invalid'] }, at);
  return given.billable_metric_id !== undefined && given.charge_model !== undefined;
}

async function metricsOf(
  ctx: Context,
  wanted: readonly WantedCharge[],
  missing: string,
): Promise<Map<string, BillableMetricRow>> {
  const ids = [...new Set(wanted.map(({ definition }) => definition.billable_metric_id))];
  if (ids.length === 0) return new Map();
  const rows = await lockBillableMetrics(ctx, ids.filter(isUuid));
  if (rows.length < ids.length) throw refuse.notFound(missing);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Codes of the charges: those named first, then generated ones. Rule: charges.md#fields. */
function codesOf(
  wanted: readonly WantedCharge[],
  metrics: ReadonlyMap<string, BillableMetricRow>,
  others: readonly ChargeShown[],
  faults: FieldCodes,
): string[] {
  const taken = new Set(others.map(({ charge }) => charge.code));
  for (const { definition, at } of wanted) {
    if (definition.code === null) continue;
    if (taken.has(definition.code)) addFaults(faults, { code: ['value_already_exist'] }, at);
    taken.add(definition.code);
  }
  return wanted.map(({ definition }) => {
    const code = definition.code ?? firstFree(metrics.get(definition.billable_metric_id)!.code, taken);
    taken.add(code);
    return code;
  });
}

/** Stored filters to check again, because the charge got another model or another metric. */
function reinterpretedFilters(charge: ChargeRow, stored: ChargeShown | undefined): ChargeFilterCreate[] | undefined {
  if (!stored || stored.filters.length === 0) return undefined;
  const isSame =
    stored.charge.charge_model === charge.charge_model &&
    stored.charge.billable_metric_id === charge.billable_metric_id;
  if (isSame) return undefined;
  return stored.filters.map(({ invoice_display_name, values, properties }) => ({
    invoice_display_name,
    values: values as Record<string, string[]>,
    properties: { ...properties },
  }));
}
