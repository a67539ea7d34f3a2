import { createHash } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import type { DocumentFacts } from '../../../engine/e-documents/facts.ts';
import { profileFacts } from '../../../engine/e-documents/profiles.ts';
import { isReady, type Problem, problemsOf } from '../../../engine/e-documents/rules.ts';
import { ENGINE_VERSION } from '../../../engine/version.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { Drawn } from '../../../platform/documents/draw.ts';
import type { DocumentModel } from '../../../platform/documents/model.ts';
import type { Renderer } from '../../../platform/documents/renderer.ts';
import type { CreditNoteId, InvoiceId, OrganizationId } from '../../../platform/ids.ts';
import type { Metrics } from '../../../platform/metrics/metrics.ts';
import type { SweepDeps } from '../../../platform/periodic-job.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactAtPresent } from '../../../platform/records/transact.ts';
import { Refusal } from '../../../platform/refusal.ts';
import { releaseMails } from '../../messaging/mails/post-mail.ts';
import {
  documentSubjects,
  readCancellationModel,
  readInvoiceHybrid,
  readNoteHybrid,
} from '../render-documents/document-subjects.ts';
import { writtenXml } from '../render-documents/e-documents/written.ts';
import { recordEDocument } from './announce.ts';
import { findNoted } from './cancellations.ts';
import { factsOf } from './commands.ts';
import { printAsHybrid, printPlain } from './hybrid-documents.ts';
import { type EDocumentRow, findEDocument, printedKind, type SubjectType } from './queries.ts';
import { sendByItself } from './transmissions/commands.ts';
import { markFailed, markReady, takeLostEDocuments } from './writes.ts';

const LOST_AT_ONCE = 100;

/** What is stored where a document could not be made, although nothing that it states is wrong. */
const notMade = (type: SubjectType): Problem => ({
  rule: 'document_not_made',
  severity: 'error',
  resource: type === 'Invoice' ? 'invoice' : 'credit_note',
  field: 'svc_id',
  text: 'Every try to make the document failed, for a reason that no field repairs. It can be tried again.',
});

type Deps = SystemDeps & { renderer: Renderer; metrics: Pick<Metrics, 'eDocuments'> };

/**
 * Handler of `e-document.render`: builds a document from what is stored, tests the receivers' rules, and keeps it for
 * good, or the problems; one that is made by default states less where they find any. No transaction is open meanwhile.
 * If it runs twice the first document is kept; one that cannot be made fails with its last attempt.
 */
export function eDocumentHandlers(deps: Deps): Pick<Handlers, 'e-document.render'> {
  return {
    async 'e-document.render'({ organization_id: organizationId, e_document_id: id }, { lastAttempt }) {
      const row = await findEDocument({ db: deps.sql, organizationId }, id);
      if (row?.status !== 'pending') return;
      try {
        await render(deps, organizationId, row);
      } catch (error) {
        if (lastAttempt || error instanceof Refusal)
          await failWith(deps, organizationId, row, [notMade(row.subject_type)]);
        throw error;
      }
    },
  };
}

async function render(deps: Deps, organizationId: OrganizationId, row: EDocumentRow): Promise<void> {
  const scope = { db: deps.sql, organizationId };
  const subject = { type: row.subject_type, id: row.subject_id, kind: row.kind };
  const facts = await factsOf(scope, subject, row.profile);
  const problems = problemsOf(facts);
  if (!isReady(problems) && !row.is_by_default) return failWith(deps, organizationId, row, problems);
  const stated = isReady(problems) ? facts : await factsOf(scope, subject, null);
  const { bytes: content, missing } = await contentOf(scope, { row, facts: stated, renderer: deps.renderer });
  const sha256 = createHash('sha256').update(content).digest('hex');
  let isMade = false;
  await transactAtPresent(deps, organizationId, async (ctx) => {
    const made = { content, sha256, engineVersion: ENGINE_VERSION, problems, readyAt: realNow(), now: ctx.now() };
    isMade = await markReady(ctx, row.id, made);
    if (!isMade) return;
    if (isAnnounced(row)) await recordEDocument(ctx, 'created', row.id);
    else await documentSubjects[printedKind(row)].announce(ctx, row.subject_id);
    await sendByItself(ctx, row);
    await releaseMails(ctx, row.id);
    if (isPrinted(row) && row.is_chosen) await printAsHybrid(ctx, row, { content, missing });
  });
  if (isMade) deps.metrics.eDocuments.inc({ profile: row.profile, status: 'ready' });
}

/** Nobody waits for a document by default but who asked for it, and gets its address with its invoice or note. */
const isAnnounced = ({ kind, is_by_default }: EDocumentRow): boolean => kind === 'cancellation' || !is_by_default;

/** Whether a document stands in the place of the printed one of its invoice or note. */
const isPrinted = ({ kind, profile }: EDocumentRow): boolean => kind === 'document' && profileFacts[profile].isPdf;

async function failWith(
  deps: Deps,
  organizationId: OrganizationId,
  row: EDocumentRow,
  problems: readonly Problem[],
): Promise<void> {
  let hasFailed = false;
  await transactAtPresent(deps, organizationId, async (ctx) => {
    hasFailed = await markFailed(ctx, row, { problems, now: ctx.now() });
    if (!hasFailed) return;
    if (isAnnounced(row)) await recordEDocument(ctx, 'failed', row.id);
    await releaseMails(ctx, row.id);
    if (isPrinted(row)) await printPlain(ctx, row);
  });
  if (hasFailed) deps.metrics.eDocuments.inc({ profile: row.profile, status: 'failed' });
}

/** The file: XML, or the printed document that carries it. */
async function contentOf(
  scope: Scope,
  { row, facts, renderer }: { row: EDocumentRow; facts: DocumentFacts; renderer: Renderer },
): Promise<Drawn> {
  const xml = writtenXml(facts);
  if (!profileFacts[row.profile].isPdf) return { bytes: xml, missing: '' };
  return renderer.render(await modelOf(scope, row), xml);
}

async function modelOf(scope: Scope, { kind, subject_type, subject_id }: EDocumentRow): Promise<DocumentModel> {
  if (subject_type === 'CreditNote') return readNoteHybrid(scope, subject_id as CreditNoteId);
  const invoiceId = subject_id as InvoiceId;
  if (kind === 'document') return readInvoiceHybrid(scope, invoiceId);
  return readCancellationModel(scope, invoiceId, await findNoted(scope, invoiceId));
}

/** Enqueues documents again whose job was lost. */
export async function sweepEDocuments(
  { sql, producer }: Pick<SweepDeps, 'sql' | 'producer'>,
  before: Temporal.Instant,
  now: Temporal.Instant,
): Promise<void> {
  const lost = await takeLostEDocuments(sql, before, { realNow: now, limit: LOST_AT_ONCE });
  await producer.addMany(
    'e-document.render',
    lost.map(({ id, organization_id }) => ({
      payload: { organization_id, e_document_id: id },
      options: { id: `e-document-${id}-${now.epochMilliseconds}`, inBackground: true },
    })),
  );
}
