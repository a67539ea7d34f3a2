import type { Request, Response } from 'express';
import { effectiveSettings } from '../areas/customers/portal-settings/settings.ts';
import { type Frame, frameOf } from '../areas/reporting/customer-portal/frame.ts';
import { noticePage, PORTAL_HEADERS, portalHeaders } from '../areas/reporting/customer-portal/layout.ts';
import { newNonce } from '../areas/reporting/customer-portal/nonce.ts';
import type { PortalCustomer } from '../areas/reporting/customer-portal/queries.ts';
import { type Admission, admit } from '../areas/reporting/customer-portal/reads.ts';
import {
  languageAsked,
  languageOf,
  languageOfBrowser,
  PORTAL_LOCALES,
} from '../areas/reporting/customer-portal/texts/by-locale.ts';
import type { PortalTexts } from '../areas/reporting/customer-portal/texts/portal-texts.ts';
import { topUpBounds } from '../areas/reporting/customer-portal/wallet/top-up.ts';
import { assert } from '../engine/assert.ts';
import type { Context } from '../platform/context.ts';
import { NO_REACTIONS } from '../platform/reactions.ts';
import type { SystemDeps } from '../platform/records/system-transaction.ts';
import { refuse } from '../platform/refusal.ts';
import { READ_TIMEOUT_MS } from './answer-request.ts';
import { answeredInTime } from './database-in-time.ts';
import type { EdgeDeps } from './edge-deps.ts';
import type { EdgeLocals } from './rate-limit.ts';
import { answerOfError } from './refusals.ts';
import { requestIdOf } from './request-id.ts';
import { send } from './send-answer.ts';
import { sharedSql } from './shared-sql.ts';
import type { WindowStore } from './window-store.ts';

type Window = Pick<WindowStore, 'increment'>;

export type PortalDeps = SystemDeps &
  Pick<
    EdgeDeps,
    'limiters' | 'reads' | 'replicas' | 'heavyReads' | 'turns' | 'commands' | 'previews' | 'handOver' | 'metrics'
  > & {
    /** Counts the pages of a customer in a second, and its forms in a minute. */
    windows: { pages: Window; forms: Window };
  };

/** A visit of a customer by a link that works. */
export interface Visit {
  request: Request;
  response: Response;
  token: string;
  /** What signed the link, and signs the forms of its pages. */
  secret: string;
  customer: PortalCustomer;
  ctx: Context;
  frame: Frame;
  /** The same frame in another language, which the customer has chosen. */
  frameIn(locale: string): Frame;
  query: URLSearchParams;
  signal: AbortSignal;
}

/** A visit by a link whose life is over. */
export interface LateVisit {
  request: Request;
  response: Response;
  token: string;
  late: PortalCustomer;
}

const HTML_TYPE = 'text/html; charset=utf-8';

const NOTICES: Readonly<Record<number, keyof PortalTexts['notices']>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  429: 'tooMany',
};

/**
 * A handler that finds out who visits, answers within the time of a read unless it takes its own, and turns what is
 * thrown into a page.
 *
 * path  of the page below the token; parameters of the route are filled in
 */
export function answering(
  deps: PortalDeps,
  serve: (visit: Visit | LateVisit) => Promise<void>,
  { isInTime = true }: { isInTime?: boolean } = {},
) {
  return async (request: Request, response: Response): Promise<void> => {
    const requestId = requestIdOf(request);
    setHeaders(response, { ...PORTAL_HEADERS, 'X-Request-Id': requestId });
    const ending = new AbortController();
    response.once('close', () => ending.abort());
    try {
      await deps.limiters.address(request, response);
      const visiting = answeredInTime(visitOf(deps, request, response, ending.signal), READ_TIMEOUT_MS);
      const serving = visiting.then(serve);
      await (isInTime ? answeredInTime(serving, READ_TIMEOUT_MS) : serving);
    } catch (error) {
      ending.abort();
      if (response.headersSent) throw error;
      const { status, headers } = answerOfError(error, deps.log, { requestId });
      const language = languageOfBrowser(request.acceptsLanguages(PORTAL_LOCALES) || null);
      sendPage(response, status, noticePage(language, NOTICES[status] ?? 'failed'), headers);
    }
  };
}

const setHeaders = (response: Response, headers: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
};

async function visitOf(
  deps: PortalDeps,
  request: Request,
  response: Response,
  signal: AbortSignal,
): Promise<Visit | LateVisit> {
  const { sql, config, log } = deps;
  const token = request.params.token as string;
  const admission = await admit({ db: sql, config }, token);
  if ('expired' in admission) return { request, response, token, late: admission.expired };
  const { customer, now, secret } = admission;
  const organizationId = customer.organization_id;
  const ctx: Context = {
    organizationId,
    sandbox: customer.sandbox,
    actor: { source: 'system', apiKeyId: null },
    db: sharedSql(sql, deps.reads, { organizationId, signal }),
    config,
    log,
    reactions: NO_REACTIONS,
    now: () => now,
    pause: deps.turns.pauseOf(organizationId, signal),
    heavy: deps.heavyReads.of(organizationId, signal),
    record: () => assert(false, 'a read records nothing'),
    after: () => assert(false, 'a read owes nothing'),
  };
  // The app parses no queries; these routes read their own.
  const { pathname, searchParams: query } = new URL(request.originalUrl, 'http://portal');
  const at = { token, pathname, query };
  const frame = frameFor(deps, admission, at);
  const frameIn = (locale: string) =>
    frameFor(
      deps,
      { ...admission, customer: { ...customer, document_locale: locale } },
      { ...at, query: new URLSearchParams() },
    );
  response.removeHeader('X-Frame-Options');
  setHeaders(response, portalHeaders(frame.settings));
  return { request, response, token, secret, customer, ctx, frame, frameIn, query, signal };
}

function frameFor(
  { config }: PortalDeps,
  { customer, mayAct, now, secret }: Admission,
  { token, pathname, query }: { token: string; pathname: string; query: URLSearchParams },
): Frame {
  const ownLanguage = languageOf(customer);
  const parts = pathname.split(`/${token}`)[1]?.split('/').slice(1) ?? [];
  return frameOf({
    customer,
    settings: effectiveSettings(customer.settings),
    language: languageAsked(query.get('lang')) ?? ownLanguage,
    ownLanguage,
    now,
    path: parts.filter((part) => part !== '').join('/'),
    // Relative, so that the page works behind a proxy that serves it below another path.
    root: parts.length === 0 ? `${token}/` : '../'.repeat(parts.length - 1),
    isEmbedded: query.get('embed') === '1',
    mayAct,
    nonce: () => newNonce(secret, customer.id),
    bounds: (wallet) => topUpBounds(wallet, config),
  });
}

/** @throws Refusal 429, once a customer's window holds more than `most` */
export async function countVisit(window: Window, { customer }: Visit, most: number): Promise<void> {
  if ((await window.increment(customer.id)).totalHits > most) throw refuse.tooManyRequests();
}

export const sendPage = (
  response: Response,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void => send(response, { status, text, headers, contentType: HTML_TYPE }, (response.locals as EdgeLocals).rate);
