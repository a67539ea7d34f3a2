import { decimal } from '../../engine/money/decimal.ts';
import type { Context } from '../../platform/context.ts';
import type { CountedFee } from '../fee-explanations/counted-events.ts';
import { hasEvents } from '../fee-explanations/explain.ts';
import type { FeeInputsRow } from '../fee-explanations/queries.ts';
import type { FeeRow } from '../fees/queries.ts';
import type { Comparison } from './comparison.ts';
import { countSince, listRawEvents, readWatermark } from './queries.ts';
import { recount } from './recount.ts';

/** What arrived after the invoice: information, no difference. */
export interface Since {
  events_added: number;
  corrections: number;
}

/**
 * Aggregates the raw events behind usage fees, as they were up to the watermark, and compares them with the stored usage.
 * Rule: beyond 6.2 level `events`.
 */
export async function verifyEvents(
  ctx: Context,
  comparison: Comparison,
  fees: readonly FeeRow[],
  stored: ReadonlyMap<string, FeeInputsRow>,
  since: Since,
): Promise<void> {
  const seen = new Set<string>();
  for (const fee of fees) {
    const row = stored.get(fee.id);
    if (row === undefined || !hasEvents(row)) continue;
    const counted = { ...row, external_subscription_id: fee.external_subscription_id };
    const window = `${fee.subscription_id} ${fee.charge_id} ${row.inputs.window.renewed ?? false}`;
    if (row.inputs.usage?.event === undefined && !seen.has(window)) {
      seen.add(window);
      if (!(await verifyWindow(ctx, comparison, fee.id, counted, since))) continue;
    }
    await verifyUsage(ctx, comparison, fee.id, counted);
  }
}

/** Compares the events of a charge's window with the watermark; false when there is none to compare with. */
async function verifyWindow(
  ctx: Context,
  comparison: Comparison,
  feeId: string,
  counted: CountedFee,
  since: Since,
): Promise<boolean> {
  const mark = counted.events_watermark;
  const path = `fees[${feeId}].events`;
  const added = await countSince(ctx.db, ctx.organizationId, counted);
  since.events_added += added.events_added;
  since.corrections += added.corrections;
  if (mark === null || mark.digest === null) {
    comparison.notVerified.push({ path, reason: 'events_not_digested' });
    return false;
  }
  const now = await readWatermark(ctx.db, ctx.organizationId, counted);
  comparison.compare(`${path}.count`, mark.count, now.count, 'events_changed');
  comparison.compare(`${path}.digest`, mark.digest, now.digest, 'events_changed');
  return true;
}

async function verifyUsage(ctx: Context, comparison: Comparison, feeId: string, counted: CountedFee): Promise<void> {
  const { usage, facts, manual_adjustment: adjustment } = counted.inputs;
  if (usage === null || facts !== undefined || adjustment !== undefined) return;
  const events = await listRawEvents(ctx.db, ctx.organizationId, counted);
  const path = `fees[${feeId}].usage`;
  if (usage.event !== undefined) {
    comparison.compare(`${path}.events_count`, 1, events.length, 'events_changed');
    return;
  }
  const again = recount(counted.inputs, events);
  if (again === undefined) return;
  comparison.compare(`${path}.aggregated_units`, decimal(usage.aggregated_units ?? 0), again.units, 'events_changed');
  if (usage.full_units !== undefined && again.fullUnits !== undefined)
    comparison.compare(`${path}.full_units`, decimal(usage.full_units), again.fullUnits, 'events_changed');
}
