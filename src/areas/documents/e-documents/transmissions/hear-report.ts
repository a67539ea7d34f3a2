import { z } from 'zod';
import { realNow } from '../../../../platform/clock/real-clock.ts';
import type { Context } from '../../../../platform/context.ts';
import type { IntegrationId } from '../../../../platform/ids.ts';
import { ReportedState, readReport } from '../../../../platform/senders/custom.ts';
import { recordTransmission } from './announce.ts';
import { lockTransmissionOf } from './queries.ts';
import { afterReport } from './take-steps.ts';
import { changeTransmission } from './writes.ts';

/** The only event of an access point; others are no matter of ours. */
const TYPE = 'document.updated';

const News = z.object({ data: ReportedState.extend({ id: z.string() }) });

/** An event as it arrived. */
interface Told {
  providerEventId: string;
  type: string;
  payload: object;
}

/**
 * Takes what an access point says by itself about a document: a later state is kept and announced, an earlier one is
 * ignored and counted, a repeated event does nothing. About a document that it has not given us an id for yet, the next
 * question asks.
 *
 * integrationIds  connections of the access point that says it, the one that it is said to first
 * @returns whether the event could be read
 * Rule: e-documents.md#sending.
 */
export async function hearReport(
  ctx: Context,
  integrationIds: readonly IntegrationId[],
  { providerEventId, type, payload }: Told,
): Promise<boolean> {
  if (type !== TYPE) return true;
  const news = News.safeParse(payload);
  if (!news.success) return false;
  const found = await lockTransmissionOf(ctx, integrationIds, news.data.data.id);
  if (!found || found.heard.includes(providerEventId)) return true;
  const told = {
    kind: 'answered',
    answer: readReport(news.data.data),
    trace: { httpStatus: null, body: null },
  } as const;
  const change = afterReport(found, told, realNow());
  const isMoved = change.status !== found.status;
  // A report that moves nothing changes neither the reason of an end nor when it is asked again.
  const kept = {
    status: found.status,
    error: found.error,
    nextAt: found.next_at,
    isIgnored: change.isIgnored ?? false,
  };
  await changeTransmission(ctx, found, { ...(isMoved ? change : kept), heard: providerEventId }, ctx.now());
  if (isMoved) await recordTransmission(ctx, found.e_document_id);
  return true;
}
