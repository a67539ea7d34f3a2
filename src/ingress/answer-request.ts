import type { Request, Response } from 'express';
import { redactedText } from '../platform/api-log/redact.ts';
import { readOrganizationNow } from '../platform/clock/organization-clock.ts';
import type { Config } from '../platform/config.ts';
import type { Context } from '../platform/context.ts';
import type { Sql } from '../platform/db/connect.ts';
import type { Log } from '../platform/log/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import { Answer, type Operation } from '../platform/operation.ts';
import { assert, refuse } from '../platform/refusal.ts';
import { refuseIssues } from '../platform/schema/field-errors.ts';

import { answeredInTime } from './answered-in-time.ts';
import type { Identity, KeyCache } from './authenticate.ts';
import type { CommandLane } from './command-lane.ts';
import type { EventsLane } from './events-lane/lane.ts';
import { idempotencyOf } from './idempotency-key.ts';
import type { KeyUsage } from './key-usage.ts';
import type { EdgeLocals, Limiters, RateFigures } from './rate-limit.ts';
import { readBody } from './read-body.ts';
import { type Query, readQuery } from './read-query.ts';
import { answerOfError } from './refusals.ts';
import type { RefusedLog } from './refused-log.ts';
import { requestIdOf } from './request-id.ts';
import { send } from './send.ts';
import type { Wire } from './wire.ts';

export interface EdgeDeps {
  sql: Sql;
  config: Config;
  log: Log;
  metrics: Metrics;
  keys: KeyCache;
  keyUsage: KeyUsage;
  limiters: Limiters;
  commands: CommandLane;
  events: EventsLane;
  refused: RefusedLog;
  wire: Wire;
}

export const BASE_PATH = '/api/v1';
const BODY_LIMIT_BYTES = 5 * 1024 * 1024;
// A store that holds a connection and says nothing: the caller gets 503 instead of waiting for ever.
const READ_TIMEOUT_MS = 30_000;

interface Outcome {
  status: number;
  text: string;
  headers?: Record<string, string>;
  contentType?: string;
}

/**
 * What every request of an operation passes, in order: authenticate → rate limit → authorise → body → root key → operation →
 * answer → API log (platform A.1). The answer carries the request id and the caller's rate figures whatever happens.
 */
export function answerRequest(
  deps: EdgeDeps,
  operation: Operation,
): (request: Request, response: Response) => Promise<void> {
  return async (request, response) => {
    const started = performance.now();
    const requestId = requestIdOf(request);
    const locals = response.locals as EdgeLocals;
    response.setHeader('X-Request-Id', requestId);
    let outcome: Outcome;
    const read: { parameters?: unknown } = {};
    try {
      const identity = await authenticate(deps, request, response);
      const uncounted = operation.uncountedWhile?.(deps.sql, identity);
      if (!uncounted || !(await answeredInTime(uncounted, READ_TIMEOUT_MS))) {
        await deps.limiters.organization[operation.category ?? 'default'](request, response);
      }
      authorise(operation, identity);
      const answering = run(deps, operation, request, response, identity, requestId, read);
      outcome = await (operation.kind === 'read' ? answeredInTime(answering, READ_TIMEOUT_MS) : answering);
    } catch (error) {
      const answer = answerOfError(error, deps.log, { requestId, operation: operation.name });
      outcome = { status: answer.status, text: JSON.stringify(answer.body), headers: answer.headers };
      if (operation.kind === 'command' && locals.identity)
        deps.refused.note(request, locals.identity, requestId, outcome, read.parameters);
    }
    locals.rate ??= await figuresOfUncounted(deps, operation, request, response);
    send(response, deps.wire.answer(outcome), locals.rate);
    deps.metrics.requests.inc({ operation: operation.name, method: operation.method, status: outcome.status });
    deps.metrics.requestSeconds.observe({ operation: operation.name }, (performance.now() - started) / 1000);
  };
}

async function authenticate(deps: EdgeDeps, request: Request, response: Response): Promise<Identity> {
  const found = deps.keys.identify(request.headers.authorization);
  const identity = found instanceof Promise ? await found : found;
  if (!identity) {
    await deps.limiters.address(request, response);
    throw refuse.unauthorized();
  }
  (response.locals as EdgeLocals).identity = identity;
  return identity;
}

// A poll that does not count, or a caller whom nobody could identify because the database is away (platform C.3).
async function figuresOfUncounted(
  deps: EdgeDeps,
  operation: Operation,
  request: Request,
  response: Response,
): Promise<RateFigures | undefined> {
  const locals = response.locals as EdgeLocals;
  if (locals.identity) return deps.limiters.uncounted(operation.category ?? 'default', locals.identity);
  await deps.limiters.address(request, response).catch(() => {}); // the answer is settled; only its figures are wanted
  return locals.rate;
}

function authorise(operation: Operation, identity: Identity): void {
  if (operation.permission === null) return;
  const mode = operation.mode ?? (operation.method === 'get' ? 'read' : 'write');
  const resources = typeof operation.permission === 'string' ? [operation.permission] : operation.permission;
  if (resources.some((resource) => identity.permissions[resource]?.includes(mode))) return;
  throw refuse.forbidden(`${mode}_action_not_allowed_for_${resources[0]}`);
}

async function run(
  deps: EdgeDeps,
  operation: Operation,
  request: Request,
  response: Response,
  identity: Identity,
  requestId: string,
  read: { parameters?: unknown },
): Promise<Outcome> {
  const params = readParams(operation, request);
  const query = deps.wire.query(readQuery(request.url));
  const takesBody = operation.method !== 'get';
  if (operation.kind === 'events' && deps.events.isFull()) throw refuse.unavailable();
  if (operation.readsOwnBody)
    return deps.events.bulk({ identity, requestId, request, query, translate: deps.wire.body });
  const raw = takesBody
    ? deps.wire.body(
        await readBody(request, response, {
          limitBytes: operation.bodyLimitBytes ?? BODY_LIMIT_BYTES,
          keepLiterals: operation.kind === 'events',
        }),
      )
    : undefined;
  read.parameters = { ...query, ...params, ...(typeof raw === 'object' ? raw : {}) };
  const key = takesBody && !operation.ignoresIdempotencyKey ? request.headers['idempotency-key'] : undefined;
  const idempotency =
    key === undefined
      ? null
      : idempotencyOf({
          header: key,
          organizationId: identity.organizationId,
          method: operation.method,
          path: decodedPath(request),
          query,
          body: raw,
        });
  if (operation.kind === 'events') {
    const countMore = () => deps.limiters.organization[operation.category ?? 'default'](request, response);
    const sent = { identity, requestId, request, query, body: raw, countMore };
    if (idempotency === null) return deps.events.answer(operation.name, sent);
    deps.keyUsage.note(identity.apiKeyId);
    const input = await deps.events.input(operation.name, sent);
    return runCommand(deps, operation, request, identity, requestId, input, idempotency, read.parameters);
  }
  deps.keyUsage.note(identity.apiKeyId);
  const input = { ...params, query: parse(operation.query, query), body: parseRoot(operation, raw) };
  if (operation.kind !== 'read')
    return runCommand(deps, operation, request, identity, requestId, input, idempotency, read.parameters);
  const now = await readOrganizationNow(deps.sql, identity.organizationId, identity.sandbox);
  return toOutcome(
    await operation.run(
      readContext(deps, identity, () => now),
      input,
    ),
  );
}

const decodedPath = (request: Request): string => decodeURIComponent(decodedPathOrRaw(request));

function readContext(deps: EdgeDeps, identity: Identity, now: Context['now']): Context {
  return {
    organizationId: identity.organizationId,
    sandbox: identity.sandbox,
    actor: { source: 'api', apiKeyId: identity.apiKeyId },
    db: deps.sql,
    config: deps.config,
    log: deps.log,
    now,
    record: () => assert(false, 'a read records nothing'),
    after: () => assert(false, 'a read owes nothing'),
  };
}

async function runCommand(
  deps: EdgeDeps,
  operation: Operation,
  request: Request,
  identity: Identity,
  requestId: string,
  input: unknown,
  idempotency: { scope_hash: string; fingerprint: string } | null,
  parameters: unknown,
): Promise<Outcome> {
  const reply = await deps.commands.run({
    operation: operation.name,
    organization_id: identity.organizationId,
    sandbox: identity.sandbox,
    api_key_id: identity.apiKeyId,
    request_id: requestId,
    input,
    idempotency,
    request: {
      method: loggedMethod(operation.method),
      origin: originOf(request),
      path: decodedPathOrRaw(request),
      client: request.headers['user-agent'] ?? null,
      parameters: redactedText(parameters),
    },
  });
  if (operation.settle && reply.status === 200) {
    const now = await readOrganizationNow(deps.sql, identity.organizationId, identity.sandbox);
    const settled = await operation.settle(
      readContext(deps, identity, () => now),
      JSON.parse(reply.body),
    );
    return { status: reply.status, text: JSON.stringify(settled), headers: reply.headers };
  }
  return { status: reply.status, text: reply.body, headers: reply.headers };
}

/** Methods as the API log knows them: PATCH is stored as `put` (platform H.2). */
export const loggedMethod = (method: string): string =>
  method.toLowerCase() === 'patch' ? 'put' : method.toLowerCase();
export const originOf = (request: Request): string => `${request.protocol}://${request.headers.host ?? 'unknown'}`;
export const decodedPathOrRaw = (request: Request): string => request.originalUrl.split('?', 1)[0]!;

function toOutcome(result: object | null): Outcome {
  const answer = result instanceof Answer ? result : new Answer(result);
  if (answer.text !== undefined)
    return {
      status: answer.status,
      text: answer.text,
      headers: answer.headers,
      contentType: 'text/plain; charset=utf-8',
    };
  return {
    status: answer.status,
    text: answer.json ?? (answer.body === null ? '' : JSON.stringify(answer.body)),
    headers: answer.headers,
  };
}

// A text that Postgres cannot store is in no path (platform E).
function readParams(operation: Operation, request: Request): Record<string, string> {
  const params = request.params as Record<string, string>;
  for (const [name, value] of Object.entries(params)) {
    if (value.includes('\0') || !value.isWellFormed()) throw refuse.notFound(resourceOf(operation.path, name));
  }
  return { ...params };
}

/** Resource that a path parameter names: the singular of the segment before it. */
function resourceOf(path: string, param: string): string {
  const segments = path.split('/');
  const plural = segments[segments.indexOf(`:${param}`) - 1] ?? 'route';
  return plural
    .replace(/ies$/, 'y')
    .replace(/(x|ch|s)es$/, '$1')
    .replace(/s$/, '');
}

function parse(schema: Operation['query'], value: Query): unknown {
  if (!schema) return {};
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw refuseIssues(parsed.error);
  return parsed.data;
}

function parseRoot(operation: Operation, raw: unknown): unknown {
  if (!operation.body) return undefined;
  if (raw === undefined && operation.bodyOptional) return undefined;
  const value =
    operation.root === undefined ? (raw ?? {}) : rootOf(operation.root, raw, operation.bodyOptional ?? false);
  if (value === undefined) return undefined;
  const parsed = operation.body.safeParse(value);
  if (!parsed.success) throw refuseIssues(parsed.error);
  return parsed.data;
}

function rootOf(root: string, raw: unknown, optional: boolean): unknown {
  const value = isObject(raw) ? raw[root] : undefined;
  if (isObject(value) && Object.keys(value).length > 0) return value;
  if (optional && (value === undefined || value === null)) return undefined;
  throw refuse.missingRoot(root);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
