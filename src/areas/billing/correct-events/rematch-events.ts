import type { Context } from '../../../platform/context.ts';
import type { CorrectionId, EventId } from '../../../platform/ids.ts';
import { matchAll } from '../../usage/ingest-events/match-all.ts';
import { writeHealed } from '../../usage/ingest-events/open-unmatched-events.ts';
import { beginHealing } from '../../usage/unmatched-events/matching-lock.ts';
import { ignoreRetracted, insertUnmatched, listCorrected } from './corrected-events.ts';

/**
 * Step `rematch-events`: brings the list of unmatched events in line with corrected ones. A retracted event leaves the
 * list; an amended one is healed, stays for another reason, or becomes unmatched. Events whose batch is still open are
 * left to that batch. Safe to run twice. Rules: event-verdicts.md#unmatched-events, event-corrections.md#effect.
 *
 * @throws InOtherHands while another transaction heals unmatched events of the organization
 */
export async function rematchEvents(
  ctx: Context,
  { correction_id, event_ids }: { correction_id: CorrectionId; event_ids: EventId[] },
): Promise<void> {
  const { db } = ctx;
  const now = ctx.now().toString();
  await beginHealing(ctx);
  await ignoreRetracted(ctx, event_ids, correction_id);
  const matched = await matchAll(db, await listCorrected(ctx, event_ids));
  const changes = matched.flatMap(({ event, reason }) =>
    event.former !== null && event.former !== reason ? [{ id: event.id, reason: reason ?? null }] : [],
  );
  if (changes.length > 0) await writeHealed(ctx, changes, now);
  const found = matched.flatMap(({ event, reason }) => (event.former === null && reason ? [{ event, reason }] : []));
  if (found.length > 0) await insertUnmatched(ctx, found, { correctionId: correction_id, now });
}
