import { realNow } from '../../../../platform/clock/real-clock.ts';
import type { Context } from '../../../../platform/context.ts';
import { newId, type TransmissionId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { findAccessPoint, type IntegrationRow } from '../../../customers/integrations/queries.ts';
import { type EDocumentRow, getEDocument } from '../queries.ts';
import { refuseProblems } from '../refuse-problems.ts';
import { eDocumentView } from '../view.ts';
import { recordTransmission } from './announce.ts';
import { isSentToReceiver, lockLastTransmission, sendsByItself } from './queries.ts';
import { changeTransmission, insertTransmission, makeDue } from './writes.ts';

/** States after which a document has reached its receiver and is not sent again. */
const ARRIVED: ReadonlySet<string> = new Set(['delivered', 'accepted', 'paid_reported']);

/**
 * Sends a document to its receiver. One that nobody took yet is tried now, under the same id; one that was taken and of
 * which nothing more was heard gets a new sending, and the former one has failed.
 *
 * @throws Refusal 404 e_document; integration, where there is no access point; 405 invalid_status, unless the document
 *   is ready and has not arrived; 422 base e_document_not_available, of one by default with problems
 * Rule: e-documents.md#sending.
 */
export async function sendEDocument(ctx: Context, { svc_id }: { svc_id: string }) {
  const document = await getEDocument(ctx, svc_id);
  if (document.status !== 'ready') throw refuse.notAllowed('invalid_status');
  refuseProblems(document.problems);
  const accessPoint = await findAccessPoint(ctx);
  if (!accessPoint) throw refuse.notFound('integration');
  const last = await lockLastTransmission(ctx, document.id);
  if (last && ARRIVED.has(last.status)) throw refuse.notAllowed('invalid_status');
  if (last?.status === 'queued') {
    await makeDue(ctx, last.id, realNow());
    ctx.after({ nudge: 'e-document.send', payload: { transmission_id: last.id } });
    return { e_document: await eDocumentView(ctx, document) };
  }
  if (last?.status === 'sent') {
    const error = { code: 'sent_again', message: 'Nothing was heard of it, and it was sent again.' };
    await changeTransmission(ctx, last, { status: 'failed', error, nextAt: null }, ctx.now());
    await recordTransmission(ctx, document.id);
  }
  await queue(ctx, document, accessPoint);
  return { e_document: await eDocumentView(ctx, document) };
}

/**
 * Sends a document that has just become ready, where its billing entity wants that: the one in the chosen profile, and
 * the cancellation of one that was sent.
 *
 * Rule: e-documents.md#sending.
 */
export async function sendByItself(ctx: Context, document: EDocumentRow): Promise<void> {
  if (!(await sendsByItself(ctx, document.billing_entity_id))) return;
  const isMeant = document.kind === 'cancellation' ? await isSentToReceiver(ctx, document) : document.is_chosen;
  const accessPoint = isMeant ? await findAccessPoint(ctx) : undefined;
  if (accessPoint) await queue(ctx, document, accessPoint);
}

async function queue(ctx: Context, document: EDocumentRow, { id: integration_id }: IntegrationRow): Promise<void> {
  const id = newId() as TransmissionId;
  const times = { now: ctx.now(), realNow: realNow() };
  if (await insertTransmission(ctx, { id, e_document_id: document.id, integration_id }, times))
    ctx.after({ nudge: 'e-document.send', payload: { transmission_id: id } });
}
