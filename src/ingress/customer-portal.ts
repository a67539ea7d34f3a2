import type { Express } from 'express';
import { askForDocument } from '../areas/messaging/documents/ask-for-document.ts';
import { PORTAL_PATH } from '../areas/messaging/mails/portal-token.ts';
import { alertsPage } from '../areas/reporting/customer-portal/alerts/page.ts';
import { detailsPage } from '../areas/reporting/customer-portal/details/page.ts';
import { DOCUMENT_LISTS, documentsPage } from '../areas/reporting/customer-portal/documents/page.ts';
import { expiredPage, noticePage } from '../areas/reporting/customer-portal/layout.ts';
import { methodsPage } from '../areas/reporting/customer-portal/methods/page.ts';
import { overviewPage } from '../areas/reporting/customer-portal/overview/page.ts';
import { getPortalSubject, type PortalSubject } from '../areas/reporting/customer-portal/portal-document.ts';
import { PORTAL_DOCUMENTS, type PortalDocuments } from '../areas/reporting/customer-portal/queries.ts';
import { pageIn } from '../areas/reporting/customer-portal/reads.ts';
import { languageOf } from '../areas/reporting/customer-portal/texts/by-locale.ts';
import { usagePage } from '../areas/reporting/customer-portal/usage/page.ts';
import { walletPage } from '../areas/reporting/customer-portal/wallet/page.ts';
import type { Context } from '../platform/context.ts';
import { transact } from '../platform/records/transact.ts';
import { refuse } from '../platform/refusal.ts';
import { awaitFile, sendFile } from './documents.ts';
import { mountPortalCommands } from './portal-commands.ts';
import { askNextInvoice } from './portal-preview.ts';
import { answering, countVisit, type LateVisit, type PortalDeps, sendPage, type Visit } from './portal-visit.ts';
import { readWhereFit } from './read-replicas/read-where-fit.ts';
import { sharedSql } from './shared-sql.ts';

/** Longest wait for a document that is still being drawn; then the browser is asked to retry. */
const PATIENCE_MS = 5000;
const RELOAD_SECONDS = 3;

/** Pages of one customer in a second: a person opens one, and a browser reloads a few. */
const PAGES_PER_SECOND = 5;

type Page = (ctx: Context, visit: Visit) => Promise<string>;

/** The pages below a token, by their route. */
const pagesOf = (deps: PortalDeps): Readonly<Record<string, Page>> => ({
  '': (ctx, { frame, query }) => overviewPage(ctx, frame, { page: pageIn(query) }),
  ...Object.fromEntries(
    DOCUMENT_LISTS.map((list): [string, Page] => [
      `/${list}`,
      (ctx, { frame, query }) => documentsPage(ctx, frame, { list, query }),
    ]),
  ),
  '/usage/:id': (ctx, visit) =>
    usagePage(ctx, visit.frame, {
      id: idIn(visit),
      page: pageIn(visit.query),
      preview: (ids) => askNextInvoice(deps, visit, ids),
    }),
  '/wallets/:id': (ctx, visit) => walletPage(ctx, visit.frame, { id: idIn(visit), page: pageIn(visit.query) }),
  '/payment_methods': (ctx, { frame }) => methodsPage(ctx, frame, {}),
  '/alerts': (ctx, { frame, query }) => {
    if (!frame.settings.allow.alerts) throw refuse.notFound('page');
    return alertsPage(ctx, frame, { page: pageIn(query) });
  },
  '/details': (ctx, { frame }) => detailsPage(ctx, frame, {}),
});

const idIn = ({ request }: Visit): string => request.params.id as string;

/**
 * `/customer-portal/{token}`: the pages of a customer and its documents, for browsers without a key. The token
 * identifies the customer. Requests count for the caller's address, as every call without a key does, and for the
 * customer. GET changes nothing but that a document is drawn when it is first asked for; forms are commands.
 *
 * Rules: customers.md#deletion-portal-checkout, portal.md.
 */
export function mountCustomerPortal(root: Express, deps: PortalDeps): void {
  for (const [path, page] of Object.entries(pagesOf(deps)))
    root.get(
      `${PORTAL_PATH}/:token${path}`,
      answering(deps, (visit) => showPage(deps, visit, page)),
    );
  for (const listed of Object.keys(PORTAL_DOCUMENTS) as PortalDocuments[])
    root.get(
      `${PORTAL_PATH}/:token/${listed}/:id/pdf`,
      answering(deps, (visit) => servePdf(deps, visit, listed)),
    );
  mountPortalCommands(root, deps);
}

async function showPage(deps: PortalDeps, visit: Visit | LateVisit, page: Page): Promise<void> {
  if ('late' in visit) return showExpired(visit);
  await countVisit(deps.windows.pages, visit, PAGES_PER_SECOND);
  const { ctx, response, signal } = visit;
  const { organizationId } = ctx;
  const wanted = { organizationId, isFresh: false, position: undefined, signal };
  const text = await readWhereFit(deps, wanted, ({ sql, gate, signal: until }) =>
    page({ ...ctx, db: sharedSql(sql, gate, { organizationId, signal: until }) }, visit),
  );
  sendPage(response, 200, text);
}

/** A link whose life is over says whose it was and offers a new one. Rule: portal.md#links-that-have-expired. */
function showExpired({ response, request, late }: LateVisit): void {
  const token = request.params.token as string;
  const below = request.path.split(`/${token}`)[1] ?? '';
  const depth = below.split('/').length - 1;
  const root = depth === 0 ? `${token}/` : '../'.repeat(depth - 1);
  sendPage(response, 410, expiredPage(languageOf(late), { issuer: late.entity_name, action: `${root}link` }));
}

async function servePdf(deps: PortalDeps, visit: Visit | LateVisit, listed: PortalDocuments): Promise<void> {
  if ('late' in visit) return showExpired(visit);
  const { request, response, token, customer, ctx, frame } = visit;
  const subject = await getPortalSubject(ctx, customer, { listed, id: request.params.id as string });
  const documentId = subject.documentId ?? (await askFor(deps, ctx, subject));
  const file = await awaitFile(deps.sql, documentId, { response, patienceMs: PATIENCE_MS });
  if (file) return sendFile(response, file, 'attachment');
  response.setHeader('Refresh', String(RELOAD_SECONDS));
  sendPage(response, 202, noticePage(frame.language, 'preparing', `../../../${token}`));
}

async function askFor(
  deps: PortalDeps,
  { organizationId, sandbox, now }: Context,
  subject: PortalSubject,
): Promise<string> {
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
