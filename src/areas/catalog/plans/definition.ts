import { decimal } from '../../../engine/money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../../../engine/money/precision.ts';
import type { PlanRow } from './queries.ts';
import type { PlanUpdate } from './schema.ts';

/** A plan as it will be, apart from its identity and its state. */
export type PlanDefinition = Omit<
  PlanRow,
  'id' | 'parent_id' | 'minimum_commitment' | 'entitlements' | 'pending_deletion' | 'deleted_at' | 'created_at'
>;

/** Fields that stay as they are once a subscription uses the plan. Rule: plans.md#fields. */
const FROZEN = [
  'code',
  'interval',
  'amount_currency',
  'pay_in_advance',
  'trial_period',
  'bill_charges_monthly',
  'bill_fixed_charges_monthly',
] as const satisfies (keyof PlanDefinition)[];

const EMPTY = {
  invoice_display_name: null,
  description: null,
  trial_period: null,
  bill_charges_monthly: null,
  bill_fixed_charges_monthly: null,
  metadata: null,
  usage_policies: null,
} satisfies Partial<PlanDefinition>;

const FIELDS = [
  'code',
  'name',
  'interval',
  'pay_in_advance',
  'amount_cents',
  'amount_currency',
  ...Object.keys(EMPTY),
] as (keyof PlanDefinition)[];

/** A plan as it will be: what was sent over what is stored. Rule: plans.md#fields. */
export function definitionOf(given: PlanUpdate, stored?: PlanRow): PlanDefinition {
  const former: Partial<PlanDefinition> = { ...EMPTY, ...stored };
  const merged = Object.fromEntries(
    FIELDS.map((field) => [field, given[field] === undefined ? former[field] : given[field]]),
  ) as unknown as PlanDefinition;
  // Only long periods can be cut into months.
  const isLong = merged.interval === 'yearly' || merged.interval === 'semiannual';
  return {
    ...merged,
    invoice_display_name: textOrNull(merged.invoice_display_name),
    description: textOrNull(merged.description),
    trial_period:
      merged.trial_period === null ? null : roundToDigits(decimal(merged.trial_period), PRECISE_AMOUNT_DIGITS),
    bill_charges_monthly: isLong ? (merged.bill_charges_monthly ?? false) : null,
    bill_fixed_charges_monthly: isLong ? (merged.bill_fixed_charges_monthly ?? false) : null,
  };
}

/** Frozen fields that were sent and would change. */
export function frozenFaults(given: PlanUpdate, stored: PlanRow, changed: PlanDefinition): Record<string, string[]> {
  const comparable = (plan: PlanDefinition, field: keyof PlanDefinition) =>
    // No trial and a trial of no days are the same.
    field === 'trial_period' ? (plan.trial_period ?? decimal(0)).toFixed() : plan[field];
  const fields = FROZEN.filter(
    (field) => given[field] !== undefined && comparable(stored, field) !== comparable(changed, field),
  );
  return Object.fromEntries(fields.map((field) => [field, ['value_is_frozen']]));
}

const textOrNull = (text: string | null): string | null => (text === null || text.trim() === '' ? null : text);
