import { createHash } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import type { DocumentFacts } from '../../../engine/e-documents/facts.ts';
import { profileFacts } from '../../../engine/e-documents/profiles.ts';
import { isReady, problemsOf } from '../../../engine/e-documents/rules.ts';
import { ENGINE_VERSION } from '../../../engine/version.ts';
import { isSandbox, readOrganizationNow } from '../../../platform/clock/organization-clock.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { DocumentModel } from '../../../platform/documents/model.ts';
import type { Renderer } from '../../../platform/documents/renderer.ts';
import type { SweepDeps } from '../../../platform/periodic-job.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import { nudge } from '../../../platform/records/nudge.ts';
import { type SystemDeps, systemTransaction } from '../../../platform/records/system-transaction.ts';
import { documentSubjects } from '../render-documents/document-subjects.ts';
import { writtenXml } from '../render-documents/e-documents/written.ts';
import { recordEDocument } from './announce.ts';
import { factsOf } from './commands.ts';
import { type EDocumentRow, findEDocument } from './queries.ts';
import { markFailed, markReady, takeLostEDocuments } from './writes.ts';

const LOST_AT_ONCE = 100;

/**
 * Handler of `e-document.render`: builds a document from what is stored, tests the receivers' rules, and keeps it for
 * good, or the problems. No transaction is open meanwhile. If it runs twice the first document is kept.
 */
export function eDocumentHandlers(deps: SystemDeps & { renderer: Renderer }): Pick<Handlers, 'e-document.render'> {
  const { sql, renderer, producer } = deps;
  return {
    async 'e-document.render'({ organization_id: organizationId, e_document_id: id }) {
      const scope = { db: sql, organizationId };
      const row = await findEDocument(scope, id);
      if (row?.status !== 'pending') return;
      const facts = await factsOf(scope, { type: row.subject_type, id: row.subject_id }, row.profile);
      const problems = problemsOf(facts);
      const content = isReady(problems) ? await contentOf(scope, { row, facts, renderer }) : null;
      const sandbox = await isSandbox(scope);
      const finish = async (ctx: Context) => {
        const now = ctx.now();
        if (content === null) {
          if (await markFailed(ctx, row.id, { problems, now })) await recordEDocument(ctx, 'failed', row.id);
          return;
        }
        const sha256 = createHash('sha256').update(content).digest('hex');
        const made = { content, sha256, engineVersion: ENGINE_VERSION, problems, readyAt: realNow(), now };
        if (await markReady(ctx, row.id, made)) await recordEDocument(ctx, 'created', row.id);
      };
      const nudges = await systemTransaction(
        deps,
        { id: organizationId, sandbox },
        (tx) => readOrganizationNow({ db: tx, organizationId }, sandbox),
        finish,
      );
      if (nudges) await nudge(producer, organizationId, nudges);
    },
  };
}

/** The file: XML, or the printed document that carries it. */
async function contentOf(
  scope: Scope,
  { row, facts, renderer }: { row: EDocumentRow; facts: DocumentFacts; renderer: Renderer },
): Promise<Uint8Array> {
  const xml = writtenXml(facts);
  if (!profileFacts[row.profile].isPdf) return xml;
  const kind = row.subject_type === 'Invoice' ? 'invoice' : 'credit_note';
  const model = (await documentSubjects[kind].read(scope, row.subject_id)) as DocumentModel;
  const { bytes } = await renderer.render(model, xml);
  return bytes;
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
      options: { id: `e-document-${id}-${now.epochMilliseconds}` },
    })),
  );
}
