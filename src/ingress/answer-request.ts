import type { Request, Response } from 'express';
import type { Operation } from '../platform/operation.ts';
import { Refusal, refuse } from '../platform/refusal.ts';
import { bodyWithPlaces } from '../platform/schema/error-places.ts';
import type { Identity } from './authenticate.ts';
import { authorise } from './authorise.ts';
import { authorizationOf } from './authorization.ts';
import { admitSession } from './console/admit-session.ts';
import { answeredInTime } from './database-in-time.ts';
import type { EdgeDeps, Outcome } from './edge-deps.ts';
import { Ending } from './ending.ts';
import { ignoredHeader } from './ignored-fields.ts';
import { otlpError } from './otlp-errors.ts';
import { addressOf, type EdgeLocals, type Limit, type RateFigures } from './rate-limit.ts';
import { answerOfError } from './refusals.ts';
import { requestIdOf } from './request-id.ts';
import { type Call, runOperation } from './run-operation.ts';
import { send, sendStream } from './send-answer.ts';
import { createWire } from './translate-prefix.ts';

export const BASE_PATH = '/api/v1';
// If a store keeps the connection open without an answer, the caller gets 503 instead of waiting for ever.
export const READ_TIMEOUT_MS = 30_000;
/** The console's pages know one prefix, whatever that of the deployment. */
const SESSION_WIRE = createWire('svc');

/**
 * Treats a request of an operation, in this order: authenticate → rate limit → authorise → body → root key → operation
 * → answer → API log (api-keys.md#authentication). The answer always carries the request id and the caller's rate
 * figures.
 */
export function answerRequest(
  deps: EdgeDeps,
  operation: Operation,
): (request: Request, response: Response) => Promise<void> {
  const ofSessions = { ...deps, wire: SESSION_WIRE };
  return async (request, response) => {
    const started = performance.now();
    const requestId = requestIdOf(request);
    const locals = response.locals as EdgeLocals;
    response.setHeader('X-Request-Id', requestId);
    let outcome: Outcome;
    let used = deps;
    let call: Call | undefined;
    // Work of a read for a caller who is gone or answered is cancelled.
    const ending = new Ending(response);
    try {
      const identity = await authenticate(deps, request, response);
      if (identity.sessionId !== undefined) used = ofSessions;
      const unread = { sent: undefined, read: undefined, ignored: [] };
      call = { operation, request, response, identity, requestId, signal: ending, ...unread };
      const uncounted = operation.uncountedWhile?.(deps.sql, identity);
      if (!uncounted || !(await answeredInTime(uncounted, READ_TIMEOUT_MS))) {
        await limitFor(deps, operation, identity)(request, response);
      }
      authorise(operation, identity);
      const answering = runOperation(used, call);
      outcome = await (operation.kind === 'read' ? answeredInTime(answering, READ_TIMEOUT_MS) : answering);
      if (operation.isLogged) deps.uncommitted.note(call, used.wire.answer(outcome));
    } catch (error) {
      const answer = answerOfError(error, deps.log, { requestId, operation: operation.name });
      const ownBody =
        error instanceof Refusal ? bodyWithPlaces(call?.operation ?? operation, call?.read ?? {}, error) : answer.body;
      const inCell = answer.status === 503 && deps.cell !== undefined ? { ...ownBody, cell: deps.cell } : ownBody;
      const { status, body, headers } = operation.errorsAsOtlp
        ? otlpError(answer, inCell)
        : { ...answer, body: inCell };
      outcome = { status, text: JSON.stringify(body), headers };
      const isLogged = operation.kind === 'command' || operation.isLogged;
      if (isLogged && call) deps.uncommitted.note(call, used.wire.answer(outcome));
    }
    locals.rate ??= await figuresOfUncounted(deps, operation, request, response);
    if (call && call.ignored.length > 0)
      outcome = { ...outcome, headers: { ...outcome.headers, ...ignoredHeader(call.ignored) } };
    const answer = used.wire.answer(outcome);
    if (outcome.status >= 500) ending.abort();
    const pieces = outcome.bytes ?? (outcome.stream && used.wire.stream(outcome.stream));
    if (pieces === undefined) send(response, answer, locals.rate);
    else
      await sendStream(response, { answer, pieces }, locals.rate).catch((error: unknown) =>
        deps.log.warn({ requestId, error }, 'an answer broke off'),
      );
    deps.metrics.requests.inc({ operation: operation.name, method: operation.method, status: outcome.status });
    deps.metrics.requestSeconds.observe({ operation: operation.name }, (performance.now() - started) / 1000);
  };
}

/** Sessions of the console count by themselves, but events count where all events do (console.md#limits). */
function limitFor({ limiters }: EdgeDeps, { category = 'default' }: Operation, { sessionId }: Identity): Limit {
  const isOfEvents = category === 'events' || category === 'events_bulk';
  return sessionId === undefined || isOfEvents ? limiters.organization[category] : limiters.console;
}

async function authenticate(deps: EdgeDeps, request: Request, response: Response): Promise<Identity> {
  const refuseUnknown = async () => {
    await deps.limiters.address(request, response);
    throw refuse.unauthorized();
  };
  // With an Authorization header the cookie is not looked at, whatever the header is worth.
  if (request.headers.cookie !== undefined && request.headers.authorization === undefined) {
    const admitted = (await admitSession(deps, request, response)) ?? (await refuseUnknown());
    (response.locals as EdgeLocals).identity = admitted;
    return admitted;
  }
  const found = deps.keys.identify(authorizationOf(request), {
    address: () => addressOf(request),
    refuseIfOver: () => deps.limiters.refuseIfAddressIsOver(request, response),
    refuseUnknown,
  });
  const identity = (found instanceof Promise ? await found : found) ?? (await refuseUnknown());
  (response.locals as EdgeLocals).identity = identity;
  return identity;
}

// A poll that is not counted, or a caller that could not be identified because the database is away
// (rate-limits.md#headers).
async function figuresOfUncounted(
  deps: EdgeDeps,
  operation: Operation,
  request: Request,
  response: Response,
): Promise<RateFigures | undefined> {
  const locals = response.locals as EdgeLocals;
  if (locals.identity) return deps.limiters.uncounted(operation.category ?? 'default', locals.identity);
  await deps.limiters.address(request, response).catch(() => {}); // the answer is decided; only its figures are missing
  return locals.rate;
}
