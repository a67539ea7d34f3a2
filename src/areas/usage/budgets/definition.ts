import { isMoney } from '../../../engine/budgets/budget.ts';
import { isCurrency } from '../../../engine/money/currency.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { canonicalJson } from '../../../platform/canonical-json.ts';
import type { Context } from '../../../platform/context.ts';
import { findRow } from '../../../platform/db/rows.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { billableMetrics } from '../../catalog/billable-metrics/queries.ts';
import { features } from '../../catalog/features/queries.ts';
import { getDefaultBillingEntity } from '../../customers/billing-entities/queries.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { type BudgetRow, countDefinitions, findZoneOfSubscription } from './queries.ts';
import type { BudgetCreate, BudgetUpdate } from './schema.ts';

/** Limits of budgets.md#definition. */
const BUDGETS_MAX = 10_000;
const OVERRIDES_OF_ALL_MAX = 50_000;
const DEFAULT_PERCENTS = [50, 80, 100];
/** Metrics whose units are a sum over events. */
const ADDITIVE = new Set<string>(['count_agg', 'sum_agg']);
/** Currency of prices of models while the organization names no other. */
const BOOK_CURRENCY = 'USD';

const isBlank = (text: string | null | undefined): boolean => !text?.trim();

/** Faults of a definition that no single field shows. */
export function definitionFaults(body: BudgetCreate): FieldErrors {
  const faults: FieldErrors = {};
  const need = (field: 'external_customer_id' | 'external_subscription_id', isNeeded: boolean) => {
    if (isNeeded && isBlank(body[field])) faults[field] = ['value_is_mandatory'];
    if (!isNeeded && !isBlank(body[field])) faults[field] = ['value_must_be_blank'];
  };
  need('external_customer_id', body.scope === 'customer');
  need('external_subscription_id', body.scope === 'subscription');
  if (body.codes && !isBlank(body.feature_code)) faults.feature_code = ['value_must_be_blank'];
  if (body.codes?.length === 0) faults.codes = ['value_is_mandatory'];
  const counts = body.measure === 'units';
  if (counts && isBlank(body.billable_metric_code)) faults.billable_metric_code = ['value_is_mandatory'];
  if (!counts && !isBlank(body.billable_metric_code)) faults.billable_metric_code = ['value_must_be_blank'];
  if (body.measure === 'amount' && isBlank(body.currency)) faults.currency = ['value_is_mandatory'];
  else if (!isMoney(body.measure) && !isBlank(body.currency)) faults.currency = ['value_must_be_blank'];
  else if (!isBlank(body.currency) && !isCurrency(body.currency!)) faults.currency = ['value_is_invalid'];
  if (body.period === 'billing_period' && body.scope !== 'subscription') faults.period = ['value_is_invalid'];
  if (new Set(body.group_by ?? []).size < (body.group_by ?? []).length) faults.group_by = ['value_is_duplicated'];
  if (overrideFault(body.overrides ?? [], body.group_by ?? [])) faults.overrides = ['value_is_invalid'];
  return faults;
}

/** Whether a limit of its own names another number of values than `group_by`, or the same ones twice. */
export const overrideFault = (
  overrides: readonly { values: readonly (string | null)[] }[],
  groupBy: readonly string[],
): boolean =>
  overrides.some(({ values }) => values.length !== groupBy.length || groupBy.length === 0) ||
  new Set(overrides.map(({ values }) => JSON.stringify(values))).size < overrides.length;

/** @throws Refusal 422 when the organization would have too many of them */
export async function refuseTooMany(ctx: Context, added: { budgets: number; overrides: number }): Promise<void> {
  const present = await countDefinitions(ctx);
  if (present.budgets + added.budgets > BUDGETS_MAX) throw refuse.invalid({ base: ['too_many_budgets'] });
  if (present.overrides + added.overrides > OVERRIDES_OF_ALL_MAX)
    throw refuse.invalid({ overrides: ['value_is_too_long'] });
}

/**
 * The row of a new budget.
 *
 * @throws Refusal 404 customer, subscription, feature, billable_metric; 422 of a metric whose units are no sum
 * Rule: budgets.md#definition.
 */
export async function newBudget(ctx: Context, body: BudgetCreate) {
  const owner = await ownerOf(ctx, body);
  if (!isBlank(body.feature_code) && !(await findRow(ctx, features, body.feature_code!)))
    throw refuse.notFound('feature');
  if (body.measure === 'units') await refuseMetric(ctx, body.billable_metric_code!);
  const isHard = body.mode === 'hard';
  return {
    code: body.code,
    name: body.name,
    scope: body.scope,
    customer_id: owner.customer_id,
    external_customer_id: body.scope === 'customer' ? body.external_customer_id! : null,
    external_subscription_id: body.scope === 'subscription' ? body.external_subscription_id! : null,
    codes: body.codes ?? null,
    feature_code: isBlank(body.feature_code) ? null : body.feature_code!,
    match: body.match ?? {},
    group_by: body.group_by ?? [],
    measure: body.measure,
    billable_metric_code: body.measure === 'units' ? body.billable_metric_code! : null,
    currency: isMoney(body.measure) ? body.currency?.trim() || BOOK_CURRENCY : null,
    most: decimal(body.limit),
    overrides: body.overrides ?? [],
    period: body.period,
    timezone: body.timezone ?? owner.timezone,
    mode: body.mode,
    alert_percents: percentsOf(body.alert_percents ?? DEFAULT_PERCENTS),
    on_outage: body.on_outage ?? (isHard ? 'closed' : 'open'),
    offline_allowance: decimal(body.offline_allowance ?? '0'),
    unknown_price: body.unknown_price ?? (isHard ? 'deny' : 'allow'),
    is_full: false,
  } as const;
}

/** Percentages ascending, each once. */
export const percentsOf = (percents: readonly number[]): number[] => [...new Set(percents)].sort((a, b) => a - b);

async function ownerOf(
  ctx: Context,
  { scope, external_customer_id, external_subscription_id }: BudgetCreate,
): Promise<{ customer_id: CustomerId | null; timezone: string }> {
  if (scope === 'customer') {
    const customer = await getCustomer(ctx, external_customer_id!);
    return { customer_id: customer.id, timezone: customer.timezone ?? customer.billing_entity_timezone };
  }
  if (scope === 'subscription') {
    const timezone = await findZoneOfSubscription(ctx, external_subscription_id!);
    if (timezone === undefined) throw refuse.notFound('subscription');
    return { customer_id: null, timezone };
  }
  return { customer_id: null, timezone: (await getDefaultBillingEntity(ctx)).timezone };
}

async function refuseMetric(ctx: Context, code: string): Promise<void> {
  const metric = await findRow(ctx, billableMetrics, code);
  if (!metric) throw refuse.notFound('billable_metric');
  if (!ADDITIVE.has(metric.aggregation_type)) throw refuse.invalid({ billable_metric_code: ['value_is_invalid'] });
}

/** Fields that a budget keeps for life, and may be sent again as they are. */
const FROZEN = [
  'code',
  'scope',
  'external_customer_id',
  'external_subscription_id',
  'codes',
  'feature_code',
  'match',
  'group_by',
  'measure',
  'billable_metric_code',
  'currency',
  'period',
  'timezone',
] as const;

/** Frozen fields that an update would change. */
export function frozenFaults(body: BudgetUpdate, stored: BudgetRow): FieldErrors {
  const isSame = (field: (typeof FROZEN)[number]) =>
    canonicalJson(blankIsNull(body[field])) === canonicalJson(blankIsNull(stored[field]));
  const changed = FROZEN.filter((field) => body[field] !== undefined && !isSame(field));
  return Object.fromEntries(changed.map((field) => [field, ['value_is_frozen']]));
}

const blankIsNull = (value: unknown): unknown =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
    ? null
    : (value ?? null);
