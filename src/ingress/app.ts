import { type RequestListener, STATUS_CODES } from 'node:http';
import { type Express, default as express, Router } from 'express';
import helmet from 'helmet';
import type { Config } from '../platform/config.ts';
import type { Operation } from '../platform/operation.ts';
import { Refusal, refuse } from '../platform/refusal.ts';
import { answerRequest, BASE_PATH } from './answer-request.ts';
import { type DirectRoute, directly } from './direct-routes.ts';
import type { EdgeDeps } from './edge-deps.ts';
import { pathOf } from './logged-request.ts';
import type { EdgeLocals } from './rate-limit.ts';
import { answerOfError } from './refusals.ts';
import { requestIdOf } from './request-id.ts';
import { send } from './send-answer.ts';

export interface Consoles {
  /** Routers below the base URL that need no API key. */
  mountBelowBase?(app: Express): void;
  /** Routers outside the base URL: health, metrics, documentation, queue board. They neither count nor carry limits. */
  mount(app: Express): void;
}

/** The app, and what a server of our own calls for each request: the same answers in less time. */
export interface App {
  app: Express;
  listener: RequestListener;
}

/**
 * The one Express app. The API is a router per first path segment, event routes first: every route and middleware
 * before a request costs it time (http-server.md#middleware). Only routers are mounted, because a mounted app would
 * re-parent every request again (http-server.md#construction).
 */
export function createApp(deps: EdgeDeps, operations: readonly Operation[], consoles: Consoles): App {
  const app = emptyApp(deps.config);
  const rooms = new Map<string, Router>();
  const direct: DirectRoute[] = [];
  for (const operation of operations) {
    const [segment, rest] = splitPath(operation.path);
    let room = rooms.get(segment);
    if (!room) {
      room = Router({ caseSensitive: true, mergeParams: false });
      rooms.set(segment, room);
      app.use(`${BASE_PATH}${segment}`, room);
    }
    const answer = answerRequest(deps, operation);
    room[operation.method](rest, answer);
    if (!operation.path.includes(':'))
      direct.push({ method: operation.method.toUpperCase(), path: `${BASE_PATH}${operation.path}`, answer });
  }
  // Also at the end of each room, because Express would answer OPTIONS of a known path by itself, past limits and
  // headers.
  for (const room of rooms.values()) room.use(unknownRoute(deps));
  consoles.mountBelowBase?.(app);
  app.use(BASE_PATH, unknownRoute(deps));
  app.use(helmet({ contentSecurityPolicy: false }));
  consoles.mount(app);
  app.use(unknownRoute(deps));
  const failed = lastResort(deps);
  app.use((error: unknown, request: express.Request, response: express.Response, _next: express.NextFunction) =>
    failed(error, request, response),
  );
  return { app, listener: directly(app, direct, failed) };
}

/** An app without routes, with the settings that its requests and responses read. */
export function emptyApp({ TRUST_PROXY_HOPS }: Pick<Config, 'TRUST_PROXY_HOPS'>): Express {
  const app = express();
  app.set('case sensitive routing', true);
  app.set('etag', false);
  app.set('x-powered-by', false);
  app.set('query parser', false);
  app.set('trust proxy', TRUST_PROXY_HOPS);
  return app;
}

function splitPath(path: string): [segment: string, rest: string] {
  const end = path.indexOf('/', 1);
  return end === -1 ? [path, '/'] : [path.slice(0, end), path.slice(end)];
}

/**
 * Sorts static segments before parameters, whatever the order of the rooms' tables: `/events/batch` before
 * `/events/:id`.
 */
export function literalFirst(operations: readonly Operation[]): Operation[] {
  const rank = (operation: Operation) =>
    operation.path
      .split('/')
      .map((segment) => (segment.startsWith(':') ? '1' : '0'))
      .join('');
  return [...operations].sort((a, b) => rank(a).localeCompare(rank(b)));
}

const UNDER_BASE = new RegExp(`^${BASE_PATH}(?:[/?]|$)`);

type Handler = (request: express.Request, response: express.Response) => Promise<void>;

/** Name in the metrics for paths without an operation. */
const UNKNOWN_ROUTE = 'unknown_route';

// With or without a key, an unknown path counts for the caller's address (api-keys.md#authentication (6),
// rate-limits.md#unauthenticated-calls).
function unknownRoute(deps: EdgeDeps): Handler {
  return async (request, response) => {
    const requestId = requestIdOf(request);
    response.setHeader('X-Request-Id', requestId);
    let refusal: unknown = refuse.notFound('route');
    if (UNDER_BASE.test(request.originalUrl)) {
      try {
        await deps.limiters.address(request, response);
      } catch (error) {
        refusal = error;
      }
    }
    const answer = answerOfError(refusal, deps.log, { requestId });
    send(
      response,
      deps.wire.answer({ status: answer.status, text: JSON.stringify(answer.body), headers: answer.headers }),
      (response.locals as EdgeLocals).rate,
    );
    const method = request.method.toLowerCase();
    deps.metrics.requests.inc({ operation: UNKNOWN_ROUTE, method, status: answer.status });
  };
}

// Errors outside an operation: a path that does not decode, a request that a console refuses, a defect in one.
function lastResort(
  deps: EdgeDeps,
): (error: unknown, request: express.Request, response: express.Response) => Promise<void> {
  return async (thrown, request, response) => {
    const error = thrown as Error & { status?: unknown };
    if (error instanceof URIError) return unknownRoute(deps)(request, response);
    const requestId = requestIdOf(request);
    response.setHeader('X-Request-Id', requestId);
    const answer = answerOfError(refusalOfConsole(error) ?? error, deps.log, { requestId });
    if (answer.status < 500) deps.log.info({ requestId, path: pathOf(request), err: error.message }, 'console refused');
    send(response, { status: answer.status, text: JSON.stringify(answer.body), headers: answer.headers });
  };
}

/** Refusal for a 4xx of Express or of a library behind a console. */
function refusalOfConsole(error: { status?: unknown }): Refusal | undefined {
  const { status } = error;
  if (typeof status !== 'number' || status < 400 || status >= 500) return undefined;
  return new Refusal(status, { error: STATUS_CODES[status] ?? 'Bad Request' });
}
