import type { FieldCodes } from '../../engine/pricing/combination-rules.ts';
import type { Context } from '../../platform/context.ts';
import { isUuid, newId } from '../../platform/ids.ts';
import { groupRows } from '../../platform/lists/group-rows.ts';
import { refuse } from '../../platform/refusal.ts';
import { type BillableMetricRow, declaredValues, lockBillableMetrics } from '../billable-metrics/queries.ts';
import { findTaxesByCodes } from '../taxes/queries.ts';
import { type ChargeDefinition, checkedCharge, definitionOf, frozenFaults } from './definition.ts';
import { addFaults } from './faults.ts';
import { filterListOf } from './filter-list.ts';
import { firstFree } from './filter-values.ts';
import { type ChargeFilterRow, type ChargeRow, listFiltersOfCharges } from './queries.ts';
import type { ChargeElement } from './schema.ts';

/** A charge that was sent, with the stored one that it changes. */
export interface GivenCharge {
  given: ChargeElement;
  stored?: ChargeRow | undefined;
}

/** Charges as they will be; filters and taxes only of those whose lists are rewritten. */
export interface PreparedCharges {
  charges: ChargeRow[];
  filters: { chargeId: string; filters: ChargeFilterRow[] }[];
  taxes: { chargeId: string; taxIds: string[] }[];
  faults: FieldCodes;
}

interface PrepareInput {
  planId: string;
  /** A subscription uses the plan: most of a charge is frozen. */
  isFrozen: boolean;
  given: readonly GivenCharge[];
  /** Codes of the plan's charges that are not among the given ones and stay. */
  otherCodes: readonly string[];
  /** What a 404 names when a metric is unknown. */
  missing: 'billable_metric' | 'billable_metrics';
}

/**
 * Checks charges of one plan and makes them ready to save, in at most three statements. Locks the metrics.
 *
 * @throws Refusal 404 billable_metric(s), tax
 */
export async function prepareCharges(ctx: Context, input: PrepareInput): Promise<PreparedCharges> {
  const faults: FieldCodes = {};
  const known = input.given.filter((each) => hasKind(each, faults));
  const wanted = known.map((each) => ({ ...each, charge: definitionOf(each.given, each.stored) }));
  const [metrics, taxes, filters] = await Promise.all([
    metricsOf(
      ctx,
      wanted.map(({ charge }) => charge.billable_metric_id),
      input.missing,
    ),
    findTaxesByCodes(
      ctx.db,
      ctx.organizationId,
      input.given.flatMap(({ given }) => given.tax_codes ?? []),
    ),
    listFiltersOfCharges(
      ctx.db,
      ctx.organizationId,
      input.given.flatMap(({ stored }) => (stored ? [stored.id] : [])),
    ),
  ]);
  const filtersOf = groupRows(filters, ({ charge_id }) => charge_id);
  const taxIds = new Map(taxes.map(({ code, id }) => [code, id]));
  const codes = codesOf(wanted, metrics, input.otherCodes, faults);
  const prepared: PreparedCharges = { charges: [], filters: [], taxes: [], faults };
  wanted.forEach(({ given, stored, charge: definition }, index) => {
    const metric = metrics.get(definition.billable_metric_id)!;
    const { charge, faults: own } = checkedCharge(definition, metric);
    addFaults(faults, own);
    if (stored && input.isFrozen) addFaults(faults, frozenFaults(stored, charge));
    if (given.applied_pricing_unit && Object.keys(given.applied_pricing_unit).length > 0)
      addFaults(faults, { applied_pricing_unit: ['unsupported_value'] });

    const id = stored?.id ?? newId();
    prepared.charges.push({
      id,
      plan_id: input.planId,
      parent_id: stored?.parent_id ?? null,
      created_at: stored?.created_at ?? ctx.now(),
      billable_metric_code: metric.code,
      ...charge,
      code: codes[index]!,
    });
    const storedFilters = filtersOf.get(id) ?? [];
    const list =
      given.filters ??
      (isReinterpreted(charge, stored) && storedFilters.length > 0 ? storedFilters.map(asGiven) : undefined);
    if (list) {
      const checked = filterListOf({
        chargeId: id,
        given: list,
        stored: storedFilters,
        charge_model: charge.charge_model,
        declared: declaredValues(metric),
        now: ctx.now(),
      });
      addFaults(faults, checked.faults);
      prepared.filters.push({ chargeId: id, filters: checked.filters });
    }
    if (given.tax_codes)
      prepared.taxes.push({ chargeId: id, taxIds: [...new Set(given.tax_codes)].map((code) => taxIds.get(code)!) });
  });
  return prepared;
}

/** Whether it is known what is counted and how it is priced. */
function hasKind({ given, stored }: GivenCharge, faults: FieldCodes): boolean {
  if (stored) return true;
  if (given.billable_metric_id === undefined) addFaults(faults, { billable_metric_id: ['value_is_mandatory'] });
  if (given.charge_model === undefined) addFaults(faults, { charge_model: ['value_is_invalid'] });
  return given.billable_metric_id !== undefined && given.charge_model !== undefined;
}

async function metricsOf(ctx: Context, ids: string[], missing: string): Promise<Map<string, BillableMetricRow>> {
  const unique = [...new Set(ids)];
  if (unique.length === 0) return new Map();
  const rows = await lockBillableMetrics(ctx.db, ctx.organizationId, unique.filter(isUuid));
  if (rows.length < unique.length) throw refuse.notFound(missing);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Codes of the charges: those named first, then generated ones. Rule: usage-and-charges D.2. */
function codesOf(
  wanted: readonly { charge: ChargeDefinition }[],
  metrics: ReadonlyMap<string, BillableMetricRow>,
  otherCodes: readonly string[],
  faults: FieldCodes,
): string[] {
  const taken = new Set(otherCodes);
  for (const { charge } of wanted) {
    if (charge.code === null) continue;
    if (taken.has(charge.code)) addFaults(faults, { code: ['value_already_exist'] });
    taken.add(charge.code);
  }
  return wanted.map(({ charge }) => {
    const code = charge.code ?? firstFree(metrics.get(charge.billable_metric_id)!.code, taken);
    taken.add(code);
    return code;
  });
}

/** Whether stored filters would mean something else: the charge got another model or another metric. */
const isReinterpreted = (charge: ChargeDefinition, stored: ChargeRow | undefined): boolean =>
  stored !== undefined &&
  (stored.charge_model !== charge.charge_model || stored.billable_metric_id !== charge.billable_metric_id);

const asGiven = ({ invoice_display_name, values, properties }: ChargeFilterRow) => ({
  invoice_display_name,
  values: values as Record<string, string[]>,
  properties: { ...properties },
});
