import type { Request, Response } from 'express';
import { loggedUsage } from '../areas/usage/ai-doors/logged-usage.ts';
import type { UsageInput } from '../areas/usage/ai-doors/read-usage.ts';
import {
  type AskedDecision,
  type SettlingBody,
  usageIn,
  withReadUsage,
} from '../areas/usage/budget-holds/asked-decision.ts';
import type { Sql } from '../platform/db/connect.ts';
import type { Operation } from '../platform/operation.ts';
import { refuse } from '../platform/refusal.ts';
import { holdsSecret } from '../platform/schema/secret-field.ts';
import type { Pause } from '../platform/turns/turns.ts';
import { jobs } from '../queues.ts';
import type { Identity } from './authenticate.ts';
import { type CloudMode, cloudModeOf, envelopeOf, inCloudMode, pathBefore } from './cloud-events.ts';
import type { EdgeDeps, Outcome } from './edge-deps.ts';
import type { Ended } from './ending.ts';
import { type Idempotency, idempotencyOf } from './idempotency-key.ts';
import { refusesUnknownFilters, unknownFields, unknownFilters } from './ignored-fields.ts';
import { loggedRequest, pathOf } from './logged-request.ts';
import { type BodyOptions, readBody } from './read-body.ts';
import { readInput, readParams } from './read-input.ts';
import { type Query, readQuery } from './read-query.ts';
import { written } from './read-replicas/position-header.ts';
import { readContext, runRead } from './run-read.ts';
import { sharedSql } from './shared-sql.ts';
import { mostValuesOf } from './value-limits.ts';

/** Largest body of an operation without its own limit: a plan of 500 charges is half of it. */
const BODY_LIMIT_BYTES = 1024 * 1024;

const UNKNOWN_FILTER = 'value_must_be_blank';

/** One request of an operation by an identified caller. */
export interface Call {
  operation: Operation;
  request: Request;
  response: Response;
  identity: Identity;
  requestId: string;
  /** For a read: aborted when its answer has been sent or its caller is gone. */
  signal: Ended;
  /** Parameters of path, query and body as sent, once they are read, for the API log. */
  sent: object | undefined;
  /** The query and the content of the body's root under the prefix `svc_`, once they are read, for error places. */
  read: { query: Query; body?: unknown } | undefined;
  /** Unknown filters and fields, once they are read, for the warning header. */
  ignored: string[];
}

/**
 * Reads the input of a request and runs its operation in the right place: reads here, commands in the writes pool,
 * events through their lane. Stores the input in `call.sent`.
 *
 * @throws Refusal of the body, the parameters or the operation itself
 */
export async function runOperation(deps: EdgeDeps, call: Call): Promise<Outcome> {
  const { operation, request, response, identity, requestId } = call;
  // Single events are too many to record each use of the key (api-keys.md#authentication).
  if (operation.name !== 'createEvent') deps.keyUsage.note(identity.apiKeyId);
  const sentParams = readParams(operation, request);
  const params = deps.wire.params(sentParams);
  const sentQuery = readQuery(request.url);
  const query = deps.wire.query(sentQuery);
  call.read = { query };
  const filters = unknownFilters(operation, sentQuery, query);
  const unwanted = refusesUnknownFilters(operation, identity.sandbox) ? filters : [];
  if (operation.kind === 'events') {
    deps.handOver.refuseIfInVain('events');
    if (deps.events.isFull(identity.organizationId)) throw refuse.unavailable();
  }
  if (operation.readsOwnBody) {
    refuseFilters(unwanted);
    return written(deps, await readOwnBody(deps, call, query));
  }
  const takesBody = operation.method !== 'get';
  const pause = deps.turns.pauseOf(identity.organizationId);
  const cloudMode = operation.cloudEvents && cloudModeOf(request.headers);
  if (cloudMode) call.operation = inCloudMode(operation, cloudMode);
  const options = bodyOptions(operation, pause, cloudMode);
  const readJson = takesBody ? await readBody(request, response, options) : undefined;
  const sentBody = cloudMode === 'binary' ? envelopeOf(request.rawHeaders, readJson) : readJson;
  call.sent = { ...sentQuery, ...deps.wire.sentParams(sentParams), ...(typeof sentBody === 'object' ? sentBody : {}) };
  const body = deps.wire.body(sentBody);
  call.read = { query, body: rootOf(operation, body) };
  refuseFilters(unwanted);
  const idempotency = takesBody ? readIdempotency(call, query, body) : null;
  if (operation.kind === 'events') {
    const countMore = () => deps.limiters.organization[operation.category ?? 'default'](request, response);
    const isOfCloudEvents = cloudMode !== undefined;
    const db = () => statementsOf(deps, call);
    const sent = { identity, requestId, request, query, body, countMore, pause, isOfCloudEvents, db };
    if (idempotency === null) return written(deps, await deps.events.answer(operation, sent));
    const read = await deps.events.input(operation, sent);
    if (operation.holdsUsage) call.sent = { ...sentQuery, ...loggedUsage(read as UsageInput) };
    return runCommand(deps, call, read, idempotency);
  }
  const checked = { ...params, ...readInput(operation, query, body) };
  const input = operation.settlesUsage ? await readSettlements(deps, call, { input: checked, pause }) : checked;
  call.ignored = [...filters, ...unknownFields(operation, body)];
  if (operation.kind === 'command') return runCommand(deps, call, input, idempotency);
  if (operation.writesWhen?.(input)) return runCommand(deps, call, input, sentKey(call, query, body));
  if (operation.isDecided?.(input)) {
    const { organizationId, sandbox } = identity;
    const decision = input.body as AskedDecision;
    return written(deps, await deps.decisions.decide({ organizationId, sandbox, requestId, decision }));
  }
  if (operation.computedBy) {
    deps.handOver.refuseIfInVain(jobs[operation.computedBy].queue);
    const {
      status,
      body: text,
      headers,
    } = await deps.previews.run(commandOf(deps, call, { input, idempotency: null }));
    return { status, text, headers };
  }
  return runRead(deps, call, input);
}

/** Lines of events, or records of other programs. */
function readOwnBody(deps: EdgeDeps, call: Call, query: Query): Promise<Outcome> {
  const { operation, identity, requestId, request, response } = call;
  const sent = { identity, requestId, request, query, db: () => statementsOf(deps, call) };
  const { readsRecords: door, category = 'default' } = operation;
  if (!door) return deps.events.bulk({ ...sent, translate: deps.wire.body });
  const countMore = () => deps.limiters.organization[category](request, response);
  return deps.events.records(door, { ...sent, countMore, pause: deps.turns.pauseOf(identity.organizationId) });
}

/**
 * Input whose settlements hold what was read of usage of models. The API log keeps that in place of the body.
 *
 * @throws Refusal 413 of a provider's body above 256 KiB
 */
async function readSettlements(
  deps: EdgeDeps,
  call: Call,
  { input, pause }: { input: Record<string, unknown>; pause: Pause },
): Promise<Record<string, unknown>> {
  const body = input.body as SettlingBody;
  const sent = usageIn(body);
  if (sent.length === 0) return input;
  const { identity, request } = call;
  const { items, sender } = await deps.events.settlements(
    { identity, request, query: {}, pause, db: () => statementsOf(deps, call) },
    sent,
  );
  call.sent = loggedUsage({ items });
  return { ...input, ...withReadUsage(body, items, sender) };
}

/** Statements of a request's organization, within its share of the connections. */
const statementsOf = ({ sql, reads }: EdgeDeps, { identity, signal }: Call): Sql =>
  sharedSql(sql, reads, { organizationId: identity.organizationId, signal });

/** @throws Refusal 422, of the names if there are any */
function refuseFilters(names: readonly string[]): void {
  if (names.length === 0) return;
  throw refuse.invalid(
    Object.fromEntries(names.map((name) => [name, [UNKNOWN_FILTER]])),
    names.map((name) => ({ field: name, code: UNKNOWN_FILTER, path: [name], isQuery: true })),
  );
}

const rootOf = ({ root }: Operation, body: unknown): unknown =>
  root === undefined ? body : (body as Record<string, unknown> | undefined)?.[root];

const bodyOptions = (operation: Operation, pause: Pause, cloudMode: CloudMode | undefined): BodyOptions => ({
  limitBytes: operation.bodyLimitBytes ?? BODY_LIMIT_BYTES,
  mostValues: operation.bodyShape?.values ?? mostValuesOf(operation),
  mostMembers: operation.bodyShape?.members,
  keepLiterals: operation.kind === 'events',
  ...(cloudMode ? { pathBefore: pathBefore(cloudMode) } : {}),
  pause,
});

const readIdempotency = (call: Call, query: Query, body: unknown): Idempotency | null =>
  call.operation.ignoresIdempotencyKey ? null : sentKey(call, query, body);

function sentKey({ operation, request, identity }: Call, query: Query, body: unknown): Idempotency | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  return idempotencyOf({
    header,
    organizationId: identity.organizationId,
    method: operation.method,
    path: decodeURIComponent(pathOf(request)),
    query,
    body,
  });
}

async function runCommand(
  deps: EdgeDeps,
  call: Call,
  input: unknown,
  idempotency: Idempotency | null,
): Promise<Outcome> {
  const { operation, identity, signal } = call;
  const job = operation.asks?.(input) ? 'asking.command' : (operation.job ?? 'command.run');
  deps.handOver.refuseIfInVain(jobs[job].queue);
  const command = commandOf(deps, call, { input, idempotency });
  const { gathers } = operation;
  const reply = gathers
    ? await deps.gathered.run({
        command,
        key: `${identity.organizationId}|${gathers.keyOf(input)}`,
        isAlone: gathers.isAlone(input),
      })
    : await deps.commands.run(command, { job, isSecret: holdsSecret(operation.body) });
  if (!operation.settle || reply.status !== 200)
    return written(deps, { status: reply.status, text: reply.body, headers: reply.headers });
  const primary = { sql: deps.sql, gate: deps.reads, signal };
  const settled = await operation.settle(await readContext(deps, identity, primary), JSON.parse(reply.body), input);
  return written(deps, { status: reply.status, text: JSON.stringify(settled), headers: reply.headers });
}

/** An operation in the form sent to the worker that runs it. */
function commandOf(
  deps: EdgeDeps,
  { operation, request, identity, requestId, sent }: Call,
  { input, idempotency }: { input: unknown; idempotency: Idempotency | null },
) {
  const logged = loggedRequest(request, identity, requestId, sent);
  const customerKey = deps.customerKeys.keyOf(operation.path, identity.organizationId, input);
  return {
    operation: operation.name,
    organization_id: identity.organizationId,
    ...(customerKey === undefined ? {} : { customer_key: customerKey }),
    sandbox: identity.sandbox,
    api_key_id: identity.apiKeyId,
    ...(identity.sessionId === undefined ? {} : { source: 'front' as const }),
    request_id: requestId,
    input,
    idempotency,
    request: {
      method: logged.http_method,
      origin: logged.request_origin,
      path: logged.request_path,
      client: logged.client,
      parameters: logged.request_body,
    },
  };
}
