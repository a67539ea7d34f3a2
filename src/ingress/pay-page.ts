import type { Express, Request, Response } from 'express';
import {
  PAY_PATH,
  type PayToken,
  RETURNED,
  RETURNED_PAYMENT,
  readPayToken,
} from '../areas/messaging/mails/pay-link.ts';
import { keepReturn } from '../areas/payments/collect-payments/customer-returns.ts';
import { awaitPage } from '../areas/payments/payments/provider-pages.ts';
import { noticePage, PAY_HEADERS } from '../areas/reporting/customer-portal/layout.ts';
import { languageOfBrowser, PORTAL_LOCALES } from '../areas/reporting/customer-portal/texts/by-locale.ts';
import type { PortalTexts } from '../areas/reporting/customer-portal/texts/portal-texts.ts';
import {
  expiredPage,
  openingPage,
  payPage,
  sandboxOpeningPage,
  tryAgainPage,
} from '../areas/reporting/pay-page/page.ts';
import { findPayable, type PayableRow } from '../areas/reporting/pay-page/queries.ts';
import { presentOf, readPayPage } from '../areas/reporting/pay-page/reads.ts';
import { assert } from '../engine/assert.ts';
import type { Context } from '../platform/context.ts';
import { DOUBLE } from '../platform/payments/providers.ts';
import { NO_REACTIONS } from '../platform/reactions.ts';
import type { SystemDeps } from '../platform/records/system-transaction.ts';
import { Outage, Refusal, refuse } from '../platform/refusal.ts';
import { answeredInTime } from './database-in-time.ts';
import type { EdgeDeps } from './edge-deps.ts';
import { addressOf } from './rate-limit.ts';
import { answerOfError } from './refusals.ts';
import { requestIdOf } from './request-id.ts';
import { send } from './send-answer.ts';
import { sharedSql } from './shared-sql.ts';
import type { WindowStore } from './window-store.ts';

/** Requests of one address in a window of PAY_WINDOW_SECONDS: a person needs five, and a mail scanner gets no more. */
const REQUESTS_PER_WINDOW = 30;
export const PAY_WINDOW_SECONDS = 60;
/** Longest wait for the provider's page; then the customer is asked to try again. */
const OPENING_MS = 8000;
const READING_MS = 8000;
/** How often the page looks whether that payment has arrived. */
const LOOK_AGAIN_SECONDS = 10;

const HTML_TYPE = 'text/html; charset=utf-8';

const NOTICES: Readonly<Record<number, keyof PortalTexts['notices']>> = { 404: 'notFound', 429: 'tooMany' };

const OPERATIONS = { Invoice: 'invoicePaymentUrl', PaymentRequest: 'paymentRequestPaymentUrl' } as const;

type Deps = SystemDeps &
  Pick<EdgeDeps, 'reads' | 'commands' | 'handOver'> & {
    /** Counts the requests of an address in a window of PAY_WINDOW_SECONDS. */
    windows: Pick<WindowStore, 'increment' | 'seen'>;
  };

/** A visitor whose token was made here and has not expired. */
interface Visit {
  request: Request;
  response: Response;
  token: PayToken;
  payable: PayableRow;
  ctx: Context;
}

/**
 * `/pay/{token}`: the page where an invoice or a payment request is paid, for browsers without a key. GET only reads,
 * because mail scanners open links, but for what a provider adds to the address of a customer who comes back, which no
 * mail has. POST, the page's button, opens the provider's page by the command that the API has for it, and leads there.
 * Rules: pay-links.md, payments.md#customers-who-come-back.
 */
export function mountPayPage(root: Express, deps: Deps): void {
  root.get(`${PAY_PATH}/:token`, answering(deps, showPage));
  root.post(`${PAY_PATH}/:token`, answering(deps, openPage));
}

function answering(deps: Deps, serve: (deps: Deps, visit: Visit) => Promise<void>) {
  return async (request: Request, response: Response): Promise<void> => {
    const requestId = requestIdOf(request);
    for (const [name, value] of Object.entries({ ...PAY_HEADERS, 'X-Request-Id': requestId }))
      response.setHeader(name, value);
    const ending = new AbortController();
    response.once('close', () => ending.abort());
    try {
      await countRequest(deps, request);
      const visit = await answeredInTime(visitOf(deps, request, response, ending.signal), READING_MS);
      if (visit === 'expired') return sendPage(response, 410, expiredPage(languageIn(request)));
      await serve(deps, visit);
    } catch (error) {
      ending.abort();
      const { status, headers } = answerOfError(error, deps.log, { requestId });
      const text = noticePage(languageOfBrowser(languageIn(request)), NOTICES[status] ?? 'failed');
      sendPage(response, status, text, headers);
    }
  };
}

/** @throws Refusal 429; an address known to be over its limit costs nothing */
async function countRequest({ windows }: Deps, request: Request): Promise<void> {
  const address = addressOf(request);
  const isOver =
    windows.seen(address) > REQUESTS_PER_WINDOW || (await windows.increment(address)).totalHits > REQUESTS_PER_WINDOW;
  if (isOver) throw refuse.tooManyRequests();
}

const languageIn = (request: Request): string | null => request.acceptsLanguages(PORTAL_LOCALES) || null;

/** @throws Refusal 404, of a token that was not made here, or whose invoice is not final */
async function visitOf(
  deps: Deps,
  request: Request,
  response: Response,
  signal: AbortSignal,
): Promise<Visit | 'expired'> {
  const token = await readPayToken({ db: deps.sql, config: deps.config }, request.params.token as string);
  if (!token) throw refuse.notFound('link');
  if (token.isExpired) return 'expired';
  const payable = await findPayable(deps.sql, token);
  if (!payable) throw refuse.notFound('link');
  const now = presentOf(payable);
  const ctx: Context = {
    organizationId: payable.organization_id,
    sandbox: payable.sandbox,
    actor: { source: 'system', apiKeyId: null },
    db: sharedSql(deps.sql, deps.reads, { organizationId: payable.organization_id, signal }),
    config: deps.config,
    log: deps.log,
    reactions: NO_REACTIONS,
    now: () => now,
    record: () => assert(false, 'a read records nothing'),
    after: () => assert(false, 'a read owes nothing'),
  };
  return { request, response, token, payable, ctx };
}

async function showPage(deps: Deps, { request, response, token, payable, ctx }: Visit): Promise<void> {
  // The app parses no queries; this route reads its own.
  const { pathname, searchParams: query } = new URL(request.originalUrl, 'http://pay');
  const hasReturned = query.has(RETURNED);
  const namedPayment = query.get(RETURNED_PAYMENT);
  const kept =
    namedPayment === null
      ? undefined
      : await answeredInTime(keepReturn(deps, ctx.organizationId, { payable: token, namedPayment, query }), READING_MS);
  const page = await answeredInTime(readPayPage(ctx, { payable, of: token, hasReturned }), READING_MS);
  const looksAgain = hasReturned && page.state.kind === 'processing';
  // What was brought back is kept by now, and need not stay in the address.
  const after = kept ? `; url=${pathname}?${RETURNED}` : '';
  const refresh = kept?.url ? `0; url=${kept.url}` : looksAgain ? `${LOOK_AGAIN_SECONDS}${after}` : undefined;
  sendPage(response, 200, payPage(page), refresh === undefined ? {} : { Refresh: refresh });
}

/** Opens the provider's page; where there is nothing to pay by now, shows the page as it is. */
async function openPage(deps: Deps, { request, response, token, payable, ctx }: Visit): Promise<void> {
  const page = await answeredInTime(readPayPage(ctx, { payable, of: token, hasReturned: false }), READING_MS);
  if (page.state.kind !== 'due') return sendPage(response, 200, payPage(page));
  try {
    const url = new URL(await answeredInTime(openedUrl(deps, { request, token, payable, ctx }), OPENING_MS)).href;
    if (payable.provider_type === DOUBLE) return sendPage(response, 200, sandboxOpeningPage(payable, url));
    sendPage(response, 200, openingPage(payable, url), { Refresh: `0; url=${url}` });
  } catch (error) {
    // What was due may have been paid, voided or credited meanwhile.
    const now = await readPayPage(ctx, { payable, of: token, hasReturned: false }).catch(() => page);
    if (now.state.kind !== 'due') return sendPage(response, 200, payPage(now));
    const { status, headers } = answerOfError(error, deps.log, { requestId: requestIdOf(request) });
    sendPage(response, status >= 500 ? status : 502, tryAgainPage(payable), headers);
  }
}

/** @throws Refusal of the command or of the provider; Outage */
async function openedUrl(
  { commands, handOver }: Deps,
  { request, token, payable, ctx }: Omit<Visit, 'response'>,
): Promise<string> {
  handOver.refuseIfInVain('writes');
  const reply = await commands.run({
    operation: OPERATIONS[token.type],
    organization_id: payable.organization_id,
    sandbox: payable.sandbox,
    api_key_id: null,
    request_id: requestIdOf(request),
    input: { svc_id: token.id },
    idempotency: null,
    // Without the token, which is a credential.
    request: { method: 'post', origin: '', path: PAY_PATH, client: null, parameters: null },
  });
  if (reply.status !== 200) throw new Refusal(reply.status, JSON.parse(reply.body));
  const [details] = Object.values(JSON.parse(reply.body) as Record<string, { payment_url: string }>);
  const url = await awaitPage(ctx, details!.payment_url);
  if (!/^https?:\/\//.test(url)) throw new Outage('payment page', undefined);
  return url;
}

const sendPage = (response: Response, status: number, text: string, headers: Record<string, string> = {}): void =>
  send(response, { status, text, headers, contentType: HTML_TYPE });
