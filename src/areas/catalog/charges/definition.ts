import { isAggregated } from '../../../engine/metrics/aggregate.ts';
import { combinationFaults, type FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import { isPriced } from '../../../engine/pricing/price.ts';
import { validateProperties } from '../../../engine/pricing/validate-properties.ts';
import type { BillableMetricRow } from '../billable-metrics/queries.ts';
import type { ChargeRow } from './queries.ts';
import type { ChargeElement } from './schema.ts';

/** A charge as it will be, apart from its identity. `code` is null until one is generated. */
export type ChargeDefinition = Pick<
  ChargeRow,
  | 'billable_metric_id'
  | 'charge_model'
  | 'invoice_display_name'
  | 'pay_in_advance'
  | 'prorated'
  | 'invoiceable'
  | 'regroup_paid_fees'
  | 'min_amount_cents'
  | 'accepts_target_wallet'
  | 'properties'
> & { code: string | null };

/** Fields that stay as they are once a subscription uses the plan. Rule: charges.md#fields. */
const FROZEN = [
  'billable_metric_id',
  'charge_model',
  'code',
  'invoiceable',
  'min_amount_cents',
  'pay_in_advance',
  'prorated',
  'regroup_paid_fees',
] as const satisfies (keyof ChargeDefinition)[];

/**
 * Fields that the contract allows and no computation uses yet; they are refused by name
 * (everywhere.md#no-feature-switches). A row is removed once a computation uses it.
 */
const UNSUPPORTED: readonly [
  field: string,
  isMeant: (charge: ChargeDefinition, metric: BillableMetricRow) => boolean,
][] = [
  ['charge_model', ({ charge_model }) => !isPriced(charge_model)],
  ['billable_metric_id', (_charge, { aggregation_type }) => !isAggregated(aggregation_type)],
];

const EMPTY: Omit<ChargeDefinition, 'billable_metric_id' | 'charge_model'> = {
  code: null,
  invoice_display_name: null,
  pay_in_advance: false,
  prorated: false,
  invoiceable: true,
  regroup_paid_fees: null,
  min_amount_cents: 0,
  accepts_target_wallet: false,
  properties: {},
};
const FIELDS = ['billable_metric_id', 'charge_model', ...Object.keys(EMPTY)] as (keyof ChargeDefinition)[];

/** A charge as it will be: what was sent over what is stored. Properties of another model do not carry over. */
export function definitionOf(given: ChargeElement, stored?: ChargeRow): ChargeDefinition {
  const former: Partial<ChargeDefinition> = { ...EMPTY, ...stored };
  const merged = Object.fromEntries(
    FIELDS.map((field) => [field, given[field] === undefined ? former[field] : given[field]]),
  ) as unknown as ChargeDefinition;
  const isOfOtherModel = stored !== undefined && merged.charge_model !== stored.charge_model;
  return {
    ...merged,
    billable_metric_id: merged.billable_metric_id.toLowerCase(),
    code: merged.code ?? stored?.code ?? null,
    properties: given.properties ?? (given.properties === null || isOfOtherModel ? {} : merged.properties),
    invoice_display_name: merged.invoice_display_name?.trim() ? merged.invoice_display_name : null,
  };
}

/**
 * A charge with its properties as they are stored, and everything that is wrong with it.
 * Rules: charges.md#combinations, charges.md#properties.
 */
export function checkedCharge(
  charge: ChargeDefinition,
  metric: BillableMetricRow,
): { charge: ChargeDefinition; faults: FieldCodes } {
  const faults = combinationFaults({
    ...charge,
    aggregation_type: metric.aggregation_type,
    recurring: metric.recurring,
  });
  const checked = isPriced(charge.charge_model)
    ? validateProperties(charge.charge_model, charge.properties)
    : undefined;
  if (checked?.ok === false) faults.properties = [...(faults.properties ?? []), ...checked.codes];

  const valid = checked?.ok ? { ...charge, properties: checked.properties } : charge;
  for (const [field, isMeant] of UNSUPPORTED) if (isMeant(valid, metric)) faults[field] ??= ['unsupported_value'];
  return { charge: valid, faults };
}

/** Frozen fields that would change; an override may still have another spending minimum. */
export function frozenFaults(
  stored: ChargeRow,
  changed: ChargeDefinition,
  { isOverride = false }: { isOverride?: boolean } = {},
): FieldCodes {
  const fields = FROZEN.filter(
    (field) => stored[field] !== changed[field] && !(isOverride && field === 'min_amount_cents'),
  );
  return Object.fromEntries(fields.map((field) => [field, ['value_is_frozen']]));
}
