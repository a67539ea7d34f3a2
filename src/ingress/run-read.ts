import type { Request } from 'express';
import { assert } from '../engine/assert.ts';
import { readOrganizationNow } from '../platform/clock/organization-clock.ts';
import type { Context, HeavyWork } from '../platform/context.ts';
import { Answer } from '../platform/operation.ts';
import { NO_REACTIONS } from '../platform/reactions.ts';
import { jsonInSlices } from '../platform/turns/json-in-slices.ts';
import type { Pause } from '../platform/turns/turns.ts';
import type { Identity } from './authenticate.ts';
import type { EdgeDeps, Outcome } from './edge-deps.ts';
import type { Asked } from './heavy-reads.ts';
import { begun } from './read-replicas/begun.ts';
import { sentPosition } from './read-replicas/position-header.ts';
import { type ReadPlace, readWhereFit, type WantedRead } from './read-replicas/read-where-fit.ts';
import type { Call } from './run-operation.ts';
import { sharedSql } from './shared-sql.ts';

/**
 * Runs a read in this process: on a replica where one fits, within its organization's share of the connections, and in
 * its turn if it is heavy. GETs that wait for the same answer share it.
 *
 * input of path, query and body, parsed
 */
export function runRead(deps: EdgeDeps, call: Call, input: Record<string, unknown>): Promise<Outcome> {
  const { operation, request, identity, signal } = call;
  const asCsv = operation.alsoCsv === true && acceptsCsv(request);
  const wanted = {
    organizationId: identity.organizationId,
    isFresh: operation.fresh === true,
    position: sentPosition(deps, request),
    signal,
  };
  const read = { deps, call, input: asCsv ? { ...input, asCsv } : input, wanted };
  if (operation.method !== 'get') return readUnlessStruck(read, deps.heavyReads.of(identity.organizationId, signal));
  return deps.heavyReads.answer(askedBy(call, asCsv, wanted.position), (heavy) => readUnlessStruck(read, heavy));
}

interface Read {
  deps: EdgeDeps;
  call: Call;
  input: Record<string, unknown>;
  wanted: WantedRead;
}

async function readUnlessStruck(read: Read, heavy: HeavyWork): Promise<Outcome> {
  try {
    return await readSomewhere(read, heavy);
  } catch (error) {
    if (read.wanted.signal.aborted || !isStruckByMistake(error)) throw error;
    return readSomewhere(read, heavy);
  }
}

const readSomewhere = ({ deps, call, input, wanted }: Read, heavy: HeavyWork): Promise<Outcome> =>
  readWhereFit(deps, wanted, async (place) => {
    const ctx = { ...(await readContext(deps, call.identity, place)), heavy };
    return toOutcome(await call.operation.run(ctx, input), ctx.pause);
  });

/** Requests of one key with the same path, query, form and position have the same answer. */
const askedBy = ({ identity, request, signal }: Call, asCsv: boolean, position = ''): Asked => ({
  organizationId: identity.organizationId,
  name: `${identity.apiKeyId} ${request.originalUrl} ${asCsv} ${position}`,
  signal,
});

/**
 * Postgres cancels the statement that a connection runs when the request arrives, which may be a later one than
 * intended. A read cancelled by mistake is repeated; a time-out has a different error text.
 */
const isStruckByMistake = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === '57014' && /user request/.test((error as Error).message);

const acceptsCsv = (request: Request): boolean => /^\s*text\/csv\b/i.test(request.headers.accept ?? '');

/** The context of a read, or of what waits for the outcome of a command. */
export async function readContext(
  deps: EdgeDeps,
  identity: Identity,
  { sql, gate, signal }: ReadPlace,
): Promise<Context> {
  const db = sharedSql(sql, gate, { organizationId: identity.organizationId, signal });
  const now = await readOrganizationNow({ db, organizationId: identity.organizationId }, identity.sandbox);
  return {
    organizationId: identity.organizationId,
    sandbox: identity.sandbox,
    actor: { source: identity.sessionId === undefined ? 'api' : 'front', apiKeyId: identity.apiKeyId },
    db,
    holds: (resource, mode) => identity.permissions[resource]?.includes(mode) === true,
    redis: deps.redis,
    config: deps.config,
    log: deps.log,
    reactions: NO_REACTIONS,
    now: () => now,
    pause: deps.turns.pauseOf(identity.organizationId, signal),
    record: () => assert(false, 'a read records nothing'),
    after: () => assert(false, 'a read owes nothing'),
  };
}

async function toOutcome(result: object | null, pause: Pause | undefined): Promise<Outcome> {
  const answer = result instanceof Answer ? result : new Answer(result);
  const { status, headers } = answer;
  if (answer.stream !== undefined)
    return begun({
      status,
      text: '',
      headers,
      stream: answer.stream,
      contentType: answer.contentType ?? 'text/plain',
    });
  if (answer.bytes !== undefined)
    return begun({ status, text: '', headers, bytes: answer.bytes, contentType: answer.contentType! });
  if (answer.text !== undefined)
    return { status, text: answer.text, headers, contentType: 'text/plain; charset=utf-8' };
  const { json, body } = answer;
  return { status, text: json ?? (body === null ? '' : await jsonInSlices(body, pause)), headers };
}
