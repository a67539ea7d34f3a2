import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { Drawn } from '../../../platform/documents/draw.ts';
import type { Renderer } from '../../../platform/documents/renderer.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import type { SweepDeps } from '../../../platform/periodic-job.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactAtPresent } from '../../../platform/records/transact.ts';
import { Refusal } from '../../../platform/refusal.ts';
import { namedMissing } from '../../messaging/documents/missing-characters.ts';
import {
  type DocumentRow,
  findPendingDocument,
  giveUpDocument,
  storeDocument,
  takeLostDocuments,
} from '../../messaging/documents/queries.ts';
import { failWaitingMails, releaseMails } from '../../messaging/mails/post-mail.ts';
import { documentSubjects } from './document-subjects.ts';

const LOST_AT_ONCE = 100;

type Deps = SystemDeps & {
  renderer: Renderer;
  /** Draws what nobody has asked for yet: slowly, beside the other. */
  slowRenderer: Renderer;
  /** The page that carries XML, where one stands in the place of the plain page; see `e-documents`. */
  hybridPage(scope: Scope, document: DocumentRow): Promise<'none' | 'made-later' | Uint8Array>;
};

/**
 * Handler of `document.render`: reads the contents of a document, draws it, stores it and announces it. No transaction
 * is open while it is drawn. If it runs twice the first document is kept; one that cannot be drawn is given up with its
 * last attempt, and the mails that wait for it fail.
 */
export function documentHandlers(deps: Deps): Pick<Handlers, 'document.render'> {
  return {
    async 'document.render'({ organization_id: organizationId, document_id: id }, { lastAttempt }) {
      const document = await findPendingDocument({ db: deps.sql, organizationId }, id);
      if (!document) return;
      try {
        await render(deps, organizationId, document);
      } catch (error) {
        if (lastAttempt || error instanceof Refusal)
          await transactAtPresent(deps, organizationId, (ctx) => giveUp(ctx, document, error));
        throw error;
      }
    },
  };
}

async function render(deps: Deps, organizationId: OrganizationId, document: DocumentRow): Promise<void> {
  const { sql, log } = deps;
  const { id } = document;
  const drawn = await drawnOf(deps, { db: sql, organizationId }, document);
  if (drawn === 'made-later') return;
  const missing = namedMissing(drawn.missing);
  if (missing !== '')
    log.warn({ organization_id: organizationId, documentId: id, missing }, 'no font has these characters');
  await transactAtPresent(deps, organizationId, async (ctx) => {
    if (!(await storeDocument(ctx, id, { content: drawn.bytes, missing }, realNow()))) return;
    await documentSubjects[document.kind].announce(ctx, document.subject_id);
    await releaseMails(ctx, id);
  });
}

async function drawnOf(deps: Deps, scope: Scope, document: DocumentRow): Promise<Drawn | 'made-later'> {
  const hybrid = await deps.hybridPage(scope, document);
  if (hybrid === 'made-later') return hybrid;
  if (hybrid !== 'none') return { bytes: hybrid, missing: '' };
  const renderer = document.is_asked ? deps.renderer : deps.slowRenderer;
  return renderer.render(
    await documentSubjects[document.kind].read({ ...scope, config: deps.config }, document.subject_id),
  );
}

async function giveUp(ctx: Context, { id }: DocumentRow, error: unknown): Promise<void> {
  if (!(await giveUpDocument(ctx, id, realNow()))) return;
  ctx.log.error({ documentId: id, err: error }, 'a document cannot be drawn and is given up');
  await failWaitingMails(ctx, id);
}

/** Enqueues documents again whose job was lost: those that were asked for, and behind them the others. */
export async function sweepDocuments(
  { sql, producer }: Pick<SweepDeps, 'sql' | 'producer'>,
  before: Temporal.Instant,
  now: Temporal.Instant,
): Promise<void> {
  for (const isAsked of [true, false]) {
    const lost = await takeLostDocuments(sql, { isAsked, before }, { realNow: now, limit: LOST_AT_ONCE });
    // One that nobody asked for may just wait: under one name it waits once more at most.
    const suffix = isAsked ? `-${now.epochMilliseconds}` : '';
    await producer.addMany(
      'document.render',
      lost.map(({ id, organization_id }) => ({
        payload: { organization_id, document_id: id },
        options: { id: `document-${id}${suffix}`, inBackground: !isAsked, forgetFailed: !isAsked },
      })),
    );
  }
}
