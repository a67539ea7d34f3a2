import type { Context } from '../../../platform/context.ts';
import type { MetricId } from '../../../platform/ids.ts';
import { findBillableMetrics } from './queries.ts';
import { WALLET_FEE_TYPES } from './schema.ts';

export interface Limits {
  allowed_fee_types: string[];
  billable_metric_ids: MetricId[];
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/**
 * The limits of a wallet from `applies_to`; absent fields keep their `former` value. Null lifts a limit.
 *
 * @returns the limits, or codes by field
 * Rule: wallets.md#fields.
 */
export async function readLimits(
  ctx: Context,
  given: unknown,
  former: Limits = { allowed_fee_types: [], billable_metric_ids: [] },
): Promise<Limits | Record<string, string[]>> {
  if (given === undefined || given === null) return former;
  const { fee_types: types, billable_metric_codes: codes } = given as Record<string, unknown>;
  const faults: Record<string, string[]> = {};
  const feeTypes = types === undefined ? former.allowed_fee_types : (types ?? []);
  const areTypes =
    isTextList(feeTypes) && feeTypes.every((type) => (WALLET_FEE_TYPES as readonly string[]).includes(type));
  if (typeof given !== 'object' || !areTypes) faults.allowed_fee_types = ['invalid_fee_types'];

  const found =
    codes === undefined || codes === null || !isTextList(codes) ? [] : await findBillableMetrics(ctx, codes);
  const isKnown = codes === undefined || codes === null || (isTextList(codes) && found.length === new Set(codes).size);
  if (!isKnown) faults.billable_metrics = ['invalid_identifier'];
  if (Object.keys(faults).length > 0) return faults;
  return {
    allowed_fee_types: [...new Set(feeTypes as string[])],
    billable_metric_ids: codes === undefined ? former.billable_metric_ids : found.map(({ id }) => id),
  };
}

export const isLimits = (read: Limits | Record<string, string[]>): read is Limits => 'billable_metric_ids' in read;
