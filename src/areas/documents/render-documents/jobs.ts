import type { Temporal } from 'temporal-polyfill';
import { isSandbox, readOrganizationNow } from '../../../platform/clock/organization-clock.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Renderer } from '../../../platform/documents/renderer.ts';
import type { SweepDeps } from '../../../platform/periodic-job.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import { nudge } from '../../../platform/records/nudge.ts';
import { type SystemDeps, systemTransaction } from '../../../platform/records/system-transaction.ts';
import { namedMissing } from '../../messaging/documents/missing-characters.ts';
import { findPendingDocument, storeDocument, takeLostDocuments } from '../../messaging/documents/queries.ts';
import { releaseMails } from '../../messaging/mails/post-mail.ts';
import { documentSubjects } from './document-subjects.ts';

const LOST_AT_ONCE = 100;

/**
 * Handler of `document.render`: reads the contents of a document, draws it, stores it and announces it. No transaction
 * is open while it is drawn. If it runs twice the first document is kept.
 */
export function documentHandlers(deps: SystemDeps & { renderer: Renderer }): Pick<Handlers, 'document.render'> {
  const { sql, log, renderer, producer } = deps;
  return {
    async 'document.render'({ organization_id: organizationId, document_id: id }) {
      const document = await findPendingDocument({ db: sql, organizationId }, id);
      if (!document) return;
      const subject = documentSubjects[document.kind];
      const model = await subject.read({ db: sql, organizationId }, document.subject_id);
      const { bytes: content, missing } =
        model instanceof Uint8Array ? { bytes: model, missing: '' } : await renderer.render(model);
      if (missing !== '')
        log.warn(
          { organization_id: organizationId, documentId: id, missing: namedMissing(missing) },
          'no font has these characters',
        );
      const sandbox = await isSandbox({ db: sql, organizationId });
      const nudges = await systemTransaction(
        deps,
        { id: organizationId, sandbox },
        (tx) => readOrganizationNow({ db: tx, organizationId }, sandbox),
        async (ctx) => {
          const drawn = { content, missing: namedMissing(missing) };
          const isOurs = await storeDocument({ db: ctx.db, organizationId }, id, drawn, realNow());
          if (!isOurs) return;
          await subject.announce(ctx, document.subject_id);
          await releaseMails(ctx, id);
        },
      );
      if (nudges) await nudge(producer, organizationId, nudges);
    },
  };
}

/** Enqueues documents again whose job was lost. */
export async function sweepDocuments(
  { sql, producer }: Pick<SweepDeps, 'sql' | 'producer'>,
  before: Temporal.Instant,
  now: Temporal.Instant,
): Promise<void> {
  const lost = await takeLostDocuments(sql, before, { realNow: now, limit: LOST_AT_ONCE });
  await producer.addMany(
    'document.render',
    lost.map(({ id, organization_id }) => ({
      payload: { organization_id, document_id: id },
      options: { id: `document-${id}-${now.epochMilliseconds}` },
    })),
  );
}
