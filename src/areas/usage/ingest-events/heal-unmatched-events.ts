import { InOtherHands } from '../../../platform/busy.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import type { StepPayload } from '../../../steps.ts';
import type { HealSelection } from '../../catalog/usage-shapes/request-heal.ts';
import { markUsage } from '../../catalog/usage-thresholds/usage-marks.ts';
import { beginHealing, lockMatching, tryHealing } from '../unmatched-events/matching-lock.ts';
import { marksOf, matchAll } from './match-all.ts';
import { finishBatches } from './open-batches.ts';
import {
  countOpenEvents,
  listCodes,
  listOpenEvents,
  listRowless,
  listStillRowless,
  markUsed,
  moveRun,
  type OpenSelection,
  takeOverflown,
  takeRequests,
  writeHealed,
} from './open-unmatched-events.ts';

/** How many open events one transaction examines (event-verdicts.md#unmatched-events). */
const PAGE = 1000;

type HealStep = StepPayload<'heal-events'>;

/**
 * Step `heal-events`: matches open unmatched events again. An event that a charge takes now is healed and its
 * subscription marked as used; one with another reason now gets that reason. No event is moved or billed, because
 * aggregation finds events by code and external id. One step serves all waiting requests; each page of 1 000 owes the
 * next. Rule: event-verdicts.md#unmatched-events "healing".
 *
 * @throws InOtherHands while another step heals the organization
 */
export async function healEvents(ctx: Context, step: HealStep): Promise<void> {
  if (!(await tryHealing(ctx))) throw new InOtherHands('the organization is being healed');
  // Only under the healing lock, so that matching of events does not wait.
  const selection = step.page?.selection ?? (await selectionOf(ctx, step));
  const now = ctx.now().toString();
  const before = step.page ?? { after: null, total: await totalOf(ctx, step, selection), examined: 0, healed: 0 };
  await lockMatching(ctx);
  const events = await listOpenEvents(ctx, selection, { after: before.after, limit: PAGE });
  const matched = await matchAll(ctx.db, events);
  const changed = matched.filter(({ event, reason }) => reason !== event.former);
  const healed = matched.filter(({ reason }) => reason === undefined);
  if (changed.length > 0) {
    const changes = changed.map(({ event, reason }) => ({ id: event.id, reason: reason ?? null }));
    await writeHealed(ctx, changes, now);
  }
  if (healed.length > 0) {
    const used = marksOf(healed).map((mark) => mark.subscription_id);
    await markUsed(ctx, used, now);
    await markUsage(ctx, { ids: used });
    ctx.log.info({ events: healed.length }, 'unmatched events healed');
  }
  const examined = before.examined + events.length;
  const total = Math.max(before.total, examined);
  const result = { examined, healed: before.healed + healed.length };
  const isOver = events.length < PAGE;
  if (step.run_id !== undefined) await moveRun(ctx, step.run_id, { progress: runProgress(result, total, isOver), now });
  if (!isOver)
    ctx.after({
      step: 'heal-events',
      payload: { ...step, page: { selection, after: events.at(-1)!.id, total, ...result } },
    });
  else await scanOverflown(ctx, selection);
}

/** Owes a scan of the events that are counted in totals only (event-verdicts.md#unmatched-events). */
async function scanOverflown(ctx: Context, { codes: wanted, external_subscription_ids: ids, either }: OpenSelection) {
  const codes = await takeOverflown(ctx, ids && either ? undefined : wanted);
  if (codes.length > 0) ctx.after({ step: 'recount-unmatched', payload: { codes, after: null, until: newId() } });
}

/**
 * Step `recount-unmatched`: matches events without a row, as if they had just been stored. Each page of 1 000 owes the
 * next; events stored meanwhile are left to their own batches.
 */
export async function recountUnmatched(ctx: Context, step: StepPayload<'recount-unmatched'>): Promise<void> {
  const found = await listRowless(ctx, step, PAGE);
  if (found.length === 0) return;
  await beginHealing(ctx);
  const ids = found.map(({ id }) => id);
  const events = await listStillRowless(ctx, ids);
  const matched = await matchAll(ctx.db, events);
  const unmatched = matched.flatMap(({ event, reason }) => (reason === undefined ? [] : [{ event, reason }]));
  const marks = marksOf(matched);
  if (events.length > 0) await finishBatches(ctx.db, [], { marks, unmatched, volumes: [] });
  if (marks.length > 0) await markUsage(ctx, { ids: marks.map((mark) => mark.subscription_id) });
  if (found.length === PAGE) ctx.after({ step: 'recount-unmatched', payload: { ...step, after: ids.at(-1)! } });
}

async function selectionOf(ctx: Context, step: HealStep): Promise<OpenSelection> {
  if (step.run_id !== undefined) {
    const { code, external_subscription_id: id } = step;
    return { codes: code === undefined ? code : [code], external_subscription_ids: id === undefined ? id : [id] };
  }
  const requests: HealSelection[] = [step, ...(await takeRequests(ctx))];
  if (requests.some(({ metric_ids, external_subscription_id }) => !metric_ids && !external_subscription_id)) return {};
  const metricIds = [...new Set(requests.flatMap(({ metric_ids }) => metric_ids ?? []))];
  const ids = [...new Set(requests.flatMap(({ external_subscription_id: id }) => id ?? []))];
  const codes = metricIds.length > 0 ? await listCodes(ctx, metricIds) : undefined;
  return { codes, external_subscription_ids: ids.length > 0 ? ids : undefined, either: true };
}

/** Undefined if it is not watched. */
const totalOf = async (ctx: Context, step: HealStep, selection: OpenSelection): Promise<number> =>
  step.run_id === undefined ? 0 : countOpenEvents(ctx, selection);

const runProgress = (result: { examined: number; healed: number }, total: number, isOver: boolean) => ({
  done: result.examined,
  total,
  isOver,
  result: { ...result, still_open: result.examined - result.healed, fees_created: 0 },
});
