import type { Context } from '../../../platform/context.ts';
import type { EventId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import { markUsage } from '../../catalog/usage-thresholds/usage-marks.ts';
import { lockCustomerById } from '../../subscriptions/subscriptions/writes.ts';
import { correctHours, holdUncounted } from '../ai-usage-sums/correct-hours.ts';
import { closeUnpriced, openUnpriced } from '../unpriced-events/close-unpriced.ts';
import { correctBudgets, readCounted } from './correct-budgets.ts';
import { carryOver, holdShapes } from './correct-rollups.ts';
import {
  amendEvents,
  amendedEvents,
  type EventAmendment,
  eventsOfIds,
  lockCorrections,
  retractEvents,
} from './lock-events.ts';
import { flagDrafts, listCustomersOf, lockCustomersOf, markSubscriptions } from './periods.ts';
import { type Effect, effectOf } from './policy.ts';
import type { CorrectionRow } from './queries.ts';
import { takeLateEvents } from './taken-late-events.ts';

/**
 * Takes the locks of a correction in the service's lock order: the customers, as billing does, so that no invoice is
 * finalized meanwhile, then the subscription's corrections.
 *
 * @returns external ids of the customers
 */
export async function lockForCorrection(
  ctx: Context,
  externalSubscriptionId: ExternalSubscriptionId,
): Promise<string[]> {
  const customers = await listCustomersOf(ctx, externalSubscriptionId);
  for (const { customer_id } of customers) await lockCustomerById(ctx, customer_id);
  await lockCorrections(ctx, [externalSubscriptionId]);
  return customers.map(({ external_id }) => external_id);
}

/**
 * Takes the same locks of several subscriptions, in the order in which others take them: all customers by their ids,
 * then the subscriptions' corrections.
 */
export async function lockForCorrections(
  ctx: Context,
  externalSubscriptionIds: readonly ExternalSubscriptionId[],
): Promise<void> {
  await lockCustomersOf(ctx, externalSubscriptionIds);
  await lockCorrections(ctx, externalSubscriptionIds);
}

/**
 * Corrects locked events of one subscription with their versions, rollups and budgets; flags drafts, marks
 * subscriptions and owes an update of the unmatched events. They are retracted if there are no amendments.
 *
 * Rules: event-corrections.md#effect, event-corrections.md#order-of-work.
 */
export async function applyCorrection(
  ctx: Context,
  correction: Pick<CorrectionRow, 'id' | 'external_subscription_id'>,
  {
    events,
    amendments,
  }: { events: readonly { id: EventId; code: string }[]; amendments: readonly EventAmendment[] | null },
): Promise<Effect> {
  const { db } = ctx;
  const { id: correctionId, external_subscription_id: externalId } = correction;
  const ids = events.map(({ id }) => id);
  const codes = [...new Set(events.map(({ code }) => code))];
  const codeOf = new Map(events.map(({ id, code }) => [id, code]));
  const uncounted = await holdUncounted(ctx, ids);
  const idsOf = (code: string) => events.filter((event) => event.code === code).map(({ id }) => id);
  const moments = db`
    select distinct e.code, e.timestamp from ${eventsOfIds(ctx, ids)}
    ${
      amendments === null
        ? db``
        : db`union select e.code, e.timestamp
      from ${amendedEvents(ctx, amendments)}`
    }`;
  const effect = await effectOf(ctx, externalId, moments);
  const shapes = await holdShapes(ctx, externalId, codes);
  const counted = await readCounted(ctx, ids);
  const change = { correctionId, now: ctx.now() };
  await carryOver(db, shapes, {
    externalSubscriptionId: externalId,
    moved: (code) => ({
      before: eventsOfIds(ctx, idsOf(code)),
      after:
        amendments === null
          ? null
          : amendedEvents(
              ctx,
              amendments.filter(({ id }) => codeOf.get(id) === code),
            ),
    }),
    change: () => (amendments === null ? retractEvents(ctx, ids, change) : amendEvents(ctx, amendments, change)),
  });
  if (counted) await correctBudgets(ctx, counted, { amendments, correctionId });
  // An amended event is meant to be billed, however late it came.
  if (amendments !== null) await takeLateEvents(ctx, ids, ctx.now());
  await closeUnpriced(ctx, ids);
  const unpriced = (amendments ?? []).flatMap(({ id, unpriced: call }) => (call ? [{ id, ...call }] : []));
  if (unpriced.length > 0) await openUnpriced(ctx, unpriced);
  await correctHours(
    ctx,
    correctionId,
    ids.filter((id) => !uncounted.has(id)),
  );
  await markSubscriptions(ctx, externalId);
  await markUsage(ctx, { external_id: externalId });
  if (effect.draftIds.length > 0) await flagDrafts(ctx, effect.draftIds);
  ctx.after({ step: 'rematch-events', payload: { correction_id: correctionId, event_ids: ids } });
  return effect;
}
