import type { Express, Request, Response } from 'express';
import { z } from 'zod';
import { findPresented, findSession, isOperator, type SessionRow } from '../../areas/tenancy/console-sessions/admit.ts';
import { csrfTokenOf } from '../../areas/tenancy/console-sessions/csrf-token.ts';
import { type HeldOrganization, listHeldOrganizations } from '../../areas/tenancy/console-sessions/queries.ts';
import { type Credential, signIn } from '../../areas/tenancy/console-sessions/sign-in.ts';
import { endSession, takeOut } from '../../areas/tenancy/console-sessions/writes.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import { isUuid } from '../../platform/ids.ts';
import type { Log } from '../../platform/log/log.ts';
import { Refusal, refuse } from '../../platform/refusal.ts';
import { MANDATORY } from '../../platform/schema/fields.ts';
import { seconds } from '../../platform/schema/view.ts';
import { version } from '../../platform/version.ts';
import { addressOf, type EdgeLocals, type Limiters } from '../rate-limit.ts';
import { readBody } from '../read-body.ts';
import { answerOfError } from '../refusals.ts';
import { requestIdOf } from '../request-id.ts';
import { send } from '../send-answer.ts';
import { livesBy, lookUp, OPERATOR, presentedBy, type SessionDeps } from './admit-session.ts';
import { cookieHeader } from './cookie.ts';
import type { SignInFailures } from './sign-in-failures.ts';

export const SESSION_PATH = '/console/session';
const BODY_BYTES = 4096;
const BODY_VALUES = 20;
const USER_AGENT_MAX = 255;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

type Deps = SessionDeps & { log: Log; limiters: Limiters; failures: SignInFailures };
interface Answer {
  body: object | null;
  headers?: Record<string, string>;
}

const secret = z.string().min(1).max(255);
const Body = z.object({
  session: z.union([
    z.strictObject({ api_key: secret }),
    z.strictObject({ code: secret }),
    z.strictObject({ operator_token: z.string().min(1).max(1000) }),
  ]),
});

/**
 * `/console/session`: sign in, what the session may do, sign out. Outside the API, for pages of this origin: JSON only,
 * because a form of another site could sign a browser in. Rule: console.md#signing-in.
 */
export function mountSessionRoutes(root: Express, deps: Deps): void {
  root.post(SESSION_PATH, answering(deps, enter));
  root.get(SESSION_PATH, answering(deps, show));
  root.delete(SESSION_PATH, answering(deps, leave));
  root.delete(`${SESSION_PATH}/organizations/:id`, answering(deps, leaveOrganization));
}

type Serve = (deps: Deps, request: Request, response: Response) => Promise<Answer>;

function answering(deps: Deps, serve: Serve) {
  return async (request: Request, response: Response): Promise<void> => {
    const requestId = requestIdOf(request);
    response.setHeader('X-Request-Id', requestId);
    response.setHeader('Cache-Control', 'no-store');
    try {
      const { body, headers } = await serve(deps, request, response);
      send(response, { status: 200, text: JSON.stringify(body), headers });
    } catch (error) {
      const { status, body, headers } = answerOfError(error, deps.log, { requestId, operation: 'console session' });
      send(response, { status, text: JSON.stringify(body), headers }, (response.locals as EdgeLocals).rate);
    }
  };
}

async function enter(deps: Deps, request: Request, response: Response): Promise<Answer> {
  const { sql, config, failures, limiters } = deps;
  await limiters.address(request, response);
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) throw refuse.unsupportedMediaType();
  const credential = await credentialOf(request, response);
  const address = addressOf(request);
  const attempt = await failures.count(address);
  if (attempt.isRefused)
    throw new Refusal(429, refuse.tooManyRequests().body, [], { 'Retry-After': String(attempt.retryAfterSeconds) });
  const lives = livesBy(config);
  const entering = signIn(sql, {
    credential,
    presented: presentedBy(request, config),
    userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX) ?? null,
    remoteAddress: request.ip ?? '',
    lives,
    hours: config.CONSOLE_SESSION_HOURS,
    operatorToken: config.OPERATOR_TOKEN,
  });
  const isKnown = await entering.then(
    (found) => found !== undefined,
    () => true,
  );
  // Only what is unknown is a failure: no known key that has no room, and no trouble of ours.
  if (isKnown) await failures.takeBack(address);
  const signedIn = await entering;
  if (!signedIn) throw refuse.unauthorized();
  const session = (await findSession(sql, signedIn.token, lives))!;
  const maxAge = Math.floor(lives.now.until(signedIn.expiresAt).total('seconds'));
  return {
    body: await sessionView(deps, session),
    // Which one of the organizations this was: the page of a one-time link goes there.
    headers: {
      'Set-Cookie': cookieHeader(signedIn.token, maxAge, config),
      'X-Console-Organization': signedIn.organizationId ?? OPERATOR,
    },
  };
}

/**
 * What a browser signs in with. Whoever reads it twice gets it twice: the text of the body stays with the request.
 *
 * @throws Refusal 400, 413, 422
 */
export async function credentialOf(request: Request, response: Response): Promise<Credential> {
  const body = await readBody(request, response, {
    limitBytes: BODY_BYTES,
    mostValues: BODY_VALUES,
    keepLiterals: false,
    pause: async () => undefined,
  });
  const parsed = Body.safeParse(body);
  if (!parsed.success) throw refuse.invalid({ api_key: [MANDATORY] });
  return parsed.data.session;
}

async function show(deps: Deps, request: Request, response: Response): Promise<Answer> {
  const presented = presentedBy(request, deps.config);
  const session =
    presented &&
    (await lookUp(deps, request, response, () => findSession(deps.sql, presented.token, livesBy(deps.config))));
  if (!session) return refuseUnknown(deps, request, response);
  return { body: await sessionView(deps, session) };
}

async function leave(deps: Deps, request: Request, response: Response): Promise<Answer> {
  const session = await demandOwnPage(deps, request, response);
  await endSession(deps.sql, session.id, realNow());
  return { body: { session: null }, headers: { 'Set-Cookie': cookieHeader('', 0, deps.config) } };
}

async function leaveOrganization(deps: Deps, request: Request, response: Response): Promise<Answer> {
  const session = await demandOwnPage(deps, request, response);
  const organizationId = String(request.params.id);
  if (!isUuid(organizationId)) throw refuse.notFound('organization');
  await takeOut({ db: deps.sql, organizationId }, { sessionId: session.id, now: realNow() });
  return { body: await sessionView(deps, session) };
}

/** @throws Refusal 401, without cookie and token of one living session */
async function demandOwnPage(deps: Deps, request: Request, response: Response): Promise<SessionRow> {
  const presented = presentedBy(request, deps.config);
  const session =
    presented &&
    (await lookUp(deps, request, response, () => findPresented(deps.sql, presented, livesBy(deps.config))));
  return session ?? refuseUnknown(deps, request, response);
}

async function refuseUnknown(deps: Deps, request: Request, response: Response): Promise<never> {
  await deps.limiters.address(request, response);
  throw refuse.unauthorized();
}

async function sessionView({ sql, config }: Deps, session: SessionRow) {
  const organizations = await listHeldOrganizations(sql, session.id, realNow());
  return {
    session: {
      csrf_token: csrfTokenOf(session),
      expires_at: seconds(session.expires_at),
      operator: isOperator(session, config.OPERATOR_TOKEN),
      version: version(),
      organizations: organizations.map(organizationView),
    },
  };
}

const organizationView = ({ id, name, slug, sandbox, has_test_clock, ...by }: HeldOrganization) => ({
  svc_id: id,
  name,
  slug,
  sandbox,
  has_test_clock,
  signed_in_as: { kind: by.kind, name: by.key_name, last4: by.last_four, email: null },
  permissions: by.permissions,
});
