import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { FeeId } from '../../../platform/ids.ts';
import { readDigestSum } from '../../catalog/usage-shapes/event-digest.ts';
import type { Watermark } from '../../usage/usage-counts/watermarks.ts';
import { boundsOf, type CountedFee, listRemovedOf, type WindowPart } from '../fee-explanations/counted-events.ts';
import { hasEvents } from '../fee-explanations/explain-fees.ts';
import type { FeeInputsRow } from '../fee-explanations/queries.ts';
import type { FeeRow } from '../fees/queries.ts';
import type { Comparison } from './differences.ts';
import { countSince, digestPart, findPartEnd, listRawEvents, readFirstWatermark } from './queries.ts';
import { startRecount } from './recount-events.ts';

/** What arrived after the invoice: information, not a difference. */
export interface Since {
  events_added: number;
  corrections: number;
}

/**
 * What arrived in the windows of the fees after they were made, at both levels.
 *
 * mostAdded how many added events of a window are counted at most; undefined counts all of them
 */
export const readSince = (
  ctx: Context,
  { fees, stored }: { fees: readonly FeeRow[]; stored: ReadonlyMap<string, FeeInputsRow> },
  mostAdded?: number,
): Promise<Since> => countSince(ctx, windowsOf(countedFees(fees, stored)), mostAdded);

/** The usage fees whose events are known, in the order of the invoice. */
const countedFees = (fees: readonly FeeRow[], stored: ReadonlyMap<string, FeeInputsRow>): UsageFee[] =>
  fees.flatMap((fee) => {
    const row = stored.get(fee.id);
    if (row === undefined || !hasEvents(row)) return [];
    const { external_subscription_id, subscription_id, charge_id } = fee;
    const window = `${subscription_id} ${charge_id} ${row.inputs.window.renewed ?? false}`;
    return [{ ...row, external_subscription_id, window: row.inputs.usage?.event === undefined ? window : undefined }];
  });

/** A fee with the name of its window, which several fees of a charge share; fees of one event have none. */
type UsageFee = CountedFee & { window: string | undefined };

/** The first fee of each window. */
const windowsOf = (fees: readonly UsageFee[]): UsageFee[] => [
  ...new Map(
    fees
      .filter(({ window }) => window !== undefined)
      .reverse()
      .map((fee) => [fee.window, fee]),
  ).values(),
];

/**
 * Aggregates the raw events behind usage fees, as they were up to the watermark, and compares them with the stored
 * usage. What retention has removed is not verified, unless it was brought back from the archive.
 *
 * Rules: invoice-verification.md#route level `events`, retention.md#raw-events.
 */
export async function verifyEvents(
  ctx: Context,
  comparison: Comparison,
  { fees, stored }: { fees: readonly FeeRow[]; stored: ReadonlyMap<string, FeeInputsRow> },
): Promise<void> {
  const all = countedFees(fees, stored);
  const removed = await listRemovedOf(ctx, all);
  const counted: UsageFee[] = [];
  for (const fee of all) {
    const lost = removed.get(fee.fee_id);
    if (lost === undefined) counted.push(fee);
    else if (lost.isRestored) counted.push({ ...fee, isRestored: true });
    else comparison.notVerified.push({ path: `fees[${fee.fee_id}].events`, reason: 'events_removed' });
  }
  const firstOfWindow = new Set(windowsOf(counted));
  for (const fee of counted) {
    if (firstOfWindow.has(fee) && !(await verifyWindow(ctx, comparison, fee))) continue;
    await verifyUsage(ctx, comparison, fee.fee_id, fee);
  }
}

/** Compares the events of a charge's window with the watermark; false if there is none. */
async function verifyWindow(ctx: Context, comparison: Comparison, counted: CountedFee): Promise<boolean> {
  const mark = counted.events_watermark;
  const path = `fees[${counted.fee_id}].events`;
  if (mark === null || mark.digest === null) {
    comparison.notVerified.push({ path, reason: 'events_not_digested' });
    return false;
  }
  const now = await markNow(ctx, counted, mark);
  comparison.compare(`${path}.count`, mark.count, now.count, 'events_changed');
  comparison.compare(`${path}.digest`, mark.digest, now.digest, 'events_changed');
  return true;
}

/** The events of a fee's window as they were then, digested in the way of its watermark. */
async function markNow(ctx: Context, counted: CountedFee, { version }: Watermark) {
  if (version === undefined) return readFirstWatermark(ctx, counted);
  let sum = 0n;
  for await (const part of partsOf(ctx, counted)) sum += BigInt((await digestPart(ctx, counted, part)).digest);
  return readDigestSum(sum);
}

/** Events of a part of a window: some seconds of one statement where none of them is in memory yet. */
const EVENTS_A_PART = 50_000;

/** The parts of a fee's window: however many events there are, each statement and each answer is bounded. */
async function* partsOf(ctx: Context, counted: CountedFee): AsyncGenerator<WindowPart> {
  yield 'strays';
  const { from: start, to } = boundsOf(counted.inputs);
  for (let from = start; ; ) {
    const end = await findPartEnd(ctx, counted, { from, to }, EVENTS_A_PART);
    yield { from, to: end ?? to };
    if (end === null) return;
    from = end;
  }
}

async function verifyUsage(ctx: Context, comparison: Comparison, feeId: FeeId, counted: CountedFee): Promise<void> {
  const { usage, facts, manual_adjustment: adjustment } = counted.inputs;
  if (usage === null || facts !== undefined || adjustment !== undefined) return;
  const path = `fees[${feeId}].usage`;
  if (usage.event !== undefined) {
    const events = await listRawEvents(ctx, counted);
    comparison.compare(`${path}.events_count`, 1, events.length, 'events_changed');
    return;
  }
  const recount = startRecount(counted.inputs);
  if (recount === undefined) return;
  for await (const part of partsOf(ctx, counted)) recount.add(await listRawEvents(ctx, counted, part));
  const again = recount.end();
  comparison.compare(`${path}.aggregated_units`, decimal(usage.aggregated_units ?? 0), again.units, 'events_changed');
  if (usage.full_units !== undefined && again.fullUnits !== undefined)
    comparison.compare(`${path}.full_units`, decimal(usage.full_units), again.fullUnits, 'events_changed');
}
