import type { Express, Request, Response } from 'express';
import { PORTAL_PATH } from '../areas/customers/customers/portal-token.ts';
import { askForDocument } from '../areas/messaging/documents/ask-for-document.ts';
import { noticePage, PORTAL_HEADERS } from '../areas/reporting/customer-portal/layout.ts';
import { portalPage } from '../areas/reporting/customer-portal/page.ts';
import { getPortalSubject, type PortalSubject } from '../areas/reporting/customer-portal/portal-document.ts';
import { PORTAL_DOCUMENTS, type PortalDocuments } from '../areas/reporting/customer-portal/queries.ts';
import { admit, pagesOf, readPortal } from '../areas/reporting/customer-portal/reads.ts';
import { languageOf, languageOfBrowser, PORTAL_LOCALES } from '../areas/reporting/customer-portal/texts/by-locale.ts';
import type { PortalTexts } from '../areas/reporting/customer-portal/texts/portal-texts.ts';
import { assert } from '../engine/assert.ts';
import type { Context } from '../platform/context.ts';
import { NO_REACTIONS } from '../platform/reactions.ts';
import type { SystemDeps } from '../platform/records/system-transaction.ts';
import { transact } from '../platform/records/transact.ts';
import type { Turns } from '../platform/turns/turns.ts';
import { READ_TIMEOUT_MS } from './answer-request.ts';
import { answeredInTime } from './database-in-time.ts';
import { awaitFile, sendFile } from './documents.ts';
import type { FairGate } from './fair-gate.ts';
import type { HeavyReads } from './heavy-reads.ts';
import type { EdgeLocals, Limiters } from './rate-limit.ts';
import { readWhereFit } from './read-replicas/read-where-fit.ts';
import type { Replicas } from './read-replicas/replicas.ts';
import { answerOfError } from './refusals.ts';
import { requestIdOf } from './request-id.ts';
import { send } from './send-answer.ts';
import { sharedSql } from './shared-sql.ts';

type Deps = SystemDeps & {
  limiters: Limiters;
  reads: FairGate;
  replicas: Replicas | undefined;
  heavyReads: HeavyReads;
  turns: Turns;
};
type Visit = Awaited<ReturnType<typeof visitOf>>;

/** Longest wait for a document that is still being drawn; then the browser is asked to retry. */
const PATIENCE_MS = 5000;
const RELOAD_SECONDS = 3;

const HTML_TYPE = 'text/html; charset=utf-8';

const NOTICES: Readonly<Record<number, keyof PortalTexts['notices']>> = {
  401: 'unauthorized',
  404: 'notFound',
  429: 'tooMany',
};

/**
 * `/customer-portal/{token}`: the page of a customer and its documents, for browsers without a key. The token
 * identifies the customer. Requests count for the caller's address, as every call without a key does. The only change
 * made here is the first request of a document.
 *
 * Rule: customers.md#deletion-portal-checkout.
 */
export function mountCustomerPortal(root: Express, deps: Deps): void {
  root.get(
    `${PORTAL_PATH}/:token`,
    answering(deps, (visit) => showPage(deps, visit)),
  );
  for (const listed of Object.keys(PORTAL_DOCUMENTS) as PortalDocuments[])
    root.get(
      `${PORTAL_PATH}/:token/${listed}/:id/pdf`,
      answering(deps, (visit) => servePdf(deps, visit, listed)),
    );
}

function answering(deps: Deps, serve: (visit: Visit) => Promise<void>) {
  return async (request: Request, response: Response): Promise<void> => {
    const requestId = requestIdOf(request);
    for (const [name, value] of Object.entries({ ...PORTAL_HEADERS, 'X-Request-Id': requestId }))
      response.setHeader(name, value);
    const ending = new AbortController();
    response.once('close', () => ending.abort());
    try {
      await deps.limiters.address(request, response);
      const serving = visitOf(deps, request, response, ending.signal).then(serve);
      await answeredInTime(serving, READ_TIMEOUT_MS);
    } catch (error) {
      ending.abort();
      const { status, headers } = answerOfError(error, deps.log, { requestId });
      const language = languageOfBrowser(request.acceptsLanguages(PORTAL_LOCALES) || null);
      const text = noticePage(language, NOTICES[status] ?? 'failed');
      send(response, { status, text, headers, contentType: HTML_TYPE }, (response.locals as EdgeLocals).rate);
    }
  };
}

/** The visiting customer, with the context of a read in its organization. */
async function visitOf(deps: Deps, request: Request, response: Response, signal: AbortSignal) {
  const { sql, config, log } = deps;
  const token = request.params.token as string;
  const { customer, mayAct, now } = await admit({ db: sql, config }, token);
  const ctx: Context = {
    organizationId: customer.organization_id,
    sandbox: customer.sandbox,
    actor: { source: 'system', apiKeyId: null },
    db: sharedSql(sql, deps.reads, { organizationId: customer.organization_id, signal }),
    config,
    log,
    reactions: NO_REACTIONS,
    now: () => now,
    pause: deps.turns.pauseOf(customer.organization_id, signal),
    heavy: deps.heavyReads.of(customer.organization_id, signal),
    record: () => assert(false, 'a read records nothing'),
    after: () => assert(false, 'a read owes nothing'),
  };
  return { request, response, token, customer, mayAct, ctx, signal, language: languageOf(customer) };
}

async function showPage(deps: Deps, visit: Visit): Promise<void> {
  const { request, response, token, customer, mayAct, ctx, language } = visit;
  const { organizationId } = ctx;
  // The app parses no queries; this route reads its own.
  const url = new URL(request.originalUrl, 'http://portal');
  const wanted = { organizationId, isFresh: false, position: undefined, signal: visit.signal };
  const portal = await readWhereFit(deps, wanted, ({ sql, gate, signal }) => {
    const db = sharedSql(sql, gate, { organizationId, signal });
    return readPortal({ ...ctx, db }, customer, pagesOf(url.searchParams));
  });
  // Relative, so that the page works behind a proxy that serves it below another path.
  const root = url.pathname.endsWith('/') ? '' : `${token}/`;
  sendPage(response, 200, portalPage(portal, { language, root, mayAct }));
}

async function servePdf(deps: Deps, visit: Visit, listed: PortalDocuments): Promise<void> {
  const { request, response, token, customer, ctx, language } = visit;
  const subject = await getPortalSubject(ctx, customer, { listed, id: request.params.id as string });
  const documentId = subject.documentId ?? (await askFor(deps, ctx, subject));
  const file = await awaitFile(deps.sql, documentId, { response, patienceMs: PATIENCE_MS });
  if (file) return sendFile(response, file, 'attachment');
  response.setHeader('Refresh', String(RELOAD_SECONDS));
  sendPage(response, 202, noticePage(language, 'preparing', `../../../${token}`));
}

async function askFor(deps: Deps, { organizationId, sandbox, now }: Context, subject: PortalSubject): Promise<string> {
  let documentId = '';
  await transact(
    deps,
    { id: organizationId, sandbox },
    async () => now(),
    async (ctx) => {
      documentId = await askForDocument(ctx, subject);
    },
  );
  return documentId;
}

const sendPage = (response: Response, status: number, text: string): void =>
  send(response, { status, text, contentType: HTML_TYPE }, (response.locals as EdgeLocals).rate);
