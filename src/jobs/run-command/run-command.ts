import { createHash } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { assert } from '../../engine/assert.ts';
import { AmountOutOfRange } from '../../engine/money/cents.ts';
import { redactedText } from '../../platform/api-log/redact.ts';
import { writeApiLogs } from '../../platform/api-log/write-api-logs.ts';
import { lockOrganizationNow, readOrganizationNow } from '../../platform/clock/organization-clock.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Actor, Context } from '../../platform/context.ts';
import type { Sql, Tx } from '../../platform/db/connect.ts';
import { refusalOfDatabase } from '../../platform/db/refusal-of-database.ts';
import type { Scope } from '../../platform/db/scope.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { type Log, ofOrganization } from '../../platform/log/log.ts';
import { Answer, type Operation } from '../../platform/operation.ts';
import type { Positions } from '../../platform/positions/positions.ts';
import type { Asked } from '../../platform/pre-step.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import type { Reactions } from '../../platform/reactions.ts';
import { nudge } from '../../platform/records/nudge.ts';
import {
  emptyRecords,
  type Nudges,
  type Records,
  recorder,
  writeRecords,
} from '../../platform/records/write-records.ts';
import { Refusal, refuse } from '../../platform/refusal.ts';
import { bodyWithPlaces } from '../../platform/schema/error-places.ts';
import { OUT_OF_RANGE } from '../../platform/schema/fields.ts';
import { isSealed } from '../../platform/secrets/seal.ts';
import { answerPlace, inputPlace, type SealedInput } from '../../platform/secrets/secret-places.ts';
import { openText, sealText } from '../../platform/secrets/secrets.ts';
import { toWire } from '../../platform/wire-prefix.ts';
import type { JobPayload } from '../../queues.ts';
import { claimKey, finishKey, freeKey, readKey } from './idempotency.ts';
import { digestOf, readAgain } from './large-answers.ts';

export type CommandJob = JobPayload<'command.run'>;

/** The reply to the waiting request: the body is text, so that a replay is byte-equal. */
export interface CommandReply {
  status: number;
  body: string;
  headers: Record<string, string>;
}

export interface CommandDeps {
  sql: Sql;
  config: Config;
  log: Log;
  reactions: Reactions;
  producer: Producer;
  operations: ReadonlyMap<string, Operation>;
  /** Commands that need several rooms, by operation: they replace its `run`. */
  flows?: Readonly<Record<string, Operation['run']>>;
  /** What the command's provider answered before. */
  asked?: Asked;
  /** Keeps up to where replicas must have come before the organization reads from them. */
  positions?: Pick<Positions, 'keep'> | undefined;
  /** Makes every ingress drop what it caches with the organization's keys. */
  announceKeys?: (organizationId: OrganizationId) => Promise<void>;
  /** Whether work of an organization is open or falls due in (from, until]. */
  fallsDue?: (scope: Scope, from: Temporal.Instant, until: Temporal.Instant) => Promise<boolean>;
}

/** Refusals whose answer is stored under the key: the command ran and changed nothing (idempotency.md). */
const STORED_REFUSALS = new Set([404, 405, 422]);

export const isStored = ({ status }: CommandReply): boolean => status < 400 || STORED_REFUSALS.has(status);

/** Another transaction holds the same key; the job comes back in 100 ms until the write timeout has passed. */
export class TwinRunning extends Error {}

/**
 * Runs one write of the API in one transaction: idempotency row, command, audit and outgoing rows, API log, answer.
 * A refused command is rolled back to its savepoint and its answer committed. Running it again under the same key or
 * the same command id replays the answer. Rule: everywhere.md#idempotency-key, everywhere.md#writes-are-jobs,
 * everywhere.md#postgres-is-the-truth, idempotency.md.
 */
export async function runCommand(deps: CommandDeps, queued: CommandJob): Promise<CommandReply> {
  const job = await openedInput(deps, queued);
  try {
    return await runOnce(deps, job);
  } catch (error) {
    // The driver fails a transaction after any failed statement, caught or not, so the refusal gets its own
    // transaction.
    const refusal = refusalOfDatabase(error);
    if (!refusal) throw error;
    return runOnce(deps, job, refusal);
  }
}

/** Stores and answers the refusal of a command that is not run. */
export const runRefused = (deps: CommandDeps, job: CommandJob, refusal: Refusal): Promise<CommandReply> =>
  runOnce(deps, job, refusal);

/** The key of a command: its caller's, else its own id, so that a redelivered job runs once. */
export function keyOfCommand(job: CommandJob): { scopeHash: Buffer; fingerprint: Buffer } {
  const scopeHash = job.idempotency ? Buffer.from(job.idempotency.scope_hash, 'hex') : commandScope(job);
  return { scopeHash, fingerprint: job.idempotency ? Buffer.from(job.idempotency.fingerprint, 'hex') : scopeHash };
}

/** The command with its input as the ingress read it. */
export async function openedInput({ sql, config }: CommandDeps, job: CommandJob): Promise<CommandJob> {
  if (job.sealed === undefined) return job;
  const text = await openText({ db: sql, config }, job.sealed, inputPlace(job.cid));
  const { input, parameters } = JSON.parse(text) as SealedInput;
  const { sealed: _, ...open } = job;
  return { ...open, input, request: { ...job.request, parameters } };
}

async function runOnce(deps: CommandDeps, job: CommandJob, refusal?: Refusal): Promise<CommandReply> {
  const operation = deps.operations.get(job.operation);
  assert(operation, `operation ${job.operation} is in the table`);
  const { scopeHash, fingerprint } = keyOfCommand(job);
  // Event routes are not in the API log, even with an Idempotency-Key (logs.md#api-logs); nor is what needs no key.
  const isLogged = operation.kind !== 'events' && job.api_key_id !== null;
  const outcome = await deps.sql.begin(async (tx): Promise<{ reply: CommandReply; nudges: Nudges }> => {
    const claimed = await claimKey(tx, {
      organization_id: job.organization_id,
      scope_hash: scopeHash,
      fingerprint,
      request_id: job.request_id,
      now: realNow(),
      ttlHours: deps.config.IDEMPOTENCY_TTL_HOURS,
    });
    if (!claimed) {
      const { reply, isRepeat } = await replay(deps, tx, { job, scopeHash, fingerprint });
      // The time of the request, so that there is one row however often the job is delivered.
      const asked = Temporal.Instant.fromEpochMilliseconds(job.at);
      if (isRepeat && isLogged) await writeApiLogs(tx, [apiLogRow(deps, job, reply, asked)], asked);
      return { reply, nudges: { deliveries: [], steps: [] } };
    }
    const { reply, now, records } = refusal
      ? refused(operation, job, refusal, realNow())
      : await attempt(deps, tx, job, operation);
    const finished = realNow();
    const stored = isStored(reply)
      ? await storedForm(deps, tx, { operation, input: job.input, scopeHash }, reply)
      : undefined;
    const [nudges] = await Promise.all([
      writeRecords(
        tx,
        { organizationId: job.organization_id, sandbox: job.sandbox, actor: actorOf(job), now, realNow: finished },
        records,
      ),
      stored
        ? finishKey({ db: tx, organizationId: job.organization_id }, scopeHash, stored)
        : freeKey({ db: tx, organizationId: job.organization_id }, scopeHash),
      isLogged ? writeApiLogs(tx, [apiLogRow(deps, job, reply, finished)], finished) : undefined,
    ]);
    return { reply, nudges };
  });
  // Before the answer is sent, so that a deleted key is refused from then on.
  if (outcome.nudges.keysChanged) await deps.announceKeys?.(job.organization_id);
  await nudge(deps.producer, job.organization_id, outcome.nudges);
  return outcome.reply;
}

const commandScope = (job: CommandJob): Buffer =>
  createHash('sha256').update(`job|${job.organization_id}|${job.cid}`).digest();

export const actorOf = (job: CommandJob): Actor => ({
  source: job.source ?? (job.api_key_id === null ? 'system' : 'api'),
  apiKeyId: job.api_key_id,
  client: job.request.client,
  ...(job.portal ? { isPortal: true } : {}),
});

async function attempt(deps: CommandDeps, tx: Tx, job: CommandJob, operation: Operation) {
  let now = realNow();
  const records = emptyRecords();
  try {
    now = await lockPresent(tx, job, operation);
    const result = await runIn(deps, tx, job, { now, records });
    const answer = result instanceof Answer ? result : new Answer(result);
    return {
      reply: {
        status: answer.status,
        body: answer.json ?? (answer.body === null ? '' : JSON.stringify(answer.body)),
        headers: answer.headers,
      },
      now,
      records,
    };
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    await tx.unsafe('rollback to savepoint command');
    return refused(operation, job, refusal, now);
  }
}

/** What a command says by an error: that its caller may not do this, or that an amount is too large to be stored. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof AmountOutOfRange) return refuse.invalid({ base: [OUT_OF_RANGE] });
  return error instanceof Refusal ? error : undefined;
}

const lockPresent = (tx: Tx, job: CommandJob, operation: Operation): Promise<Temporal.Instant> =>
  lockOrganizationNow({ db: tx, organizationId: job.organization_id }, job.sandbox, operation.exemptFromClock);

/** What the contexts of a command have in common. `now` is the command's time. */
const baseContext = (deps: CommandDeps, tx: Tx, job: CommandJob, now: Temporal.Instant) => ({
  organizationId: job.organization_id,
  sandbox: job.sandbox,
  actor: actorOf(job),
  db: tx,
  config: deps.config,
  log: ofOrganization(deps.log, job.organization_id),
  reactions: deps.reactions,
  now: () => now,
});

/** Runs the code of a command in a transaction; what it records and owes is added to `records`. */
function runIn(
  deps: CommandDeps,
  tx: Tx,
  job: CommandJob,
  { now, records }: { now: Temporal.Instant; records: Records },
): Promise<object | null> {
  const context: Context = {
    ...baseContext(deps, tx, job, now),
    record: recorder(records),
    after: (owed) => records.owed.push(owed),
    ...(deps.asked ? { asked: deps.asked } : {}),
    ...(deps.fallsDue
      ? { fallsDue: (target) => deps.fallsDue!({ db: tx, organizationId: job.organization_id }, now, target) }
      : {}),
  };
  const operation = deps.operations.get(job.operation)!;
  const run = deps.flows?.[operation.name] ?? operation.run;
  return run(context, job.input);
}

/**
 * Runs a command in a transaction that is taken back, to find out whether it would be refused in any case.
 *
 * @throws Refusal, or what the database or the code of the command says instead
 */
export async function rehearse(deps: CommandDeps, job: CommandJob): Promise<void> {
  const operation = deps.operations.get(job.operation);
  assert(operation, `operation ${job.operation} is in the table`);
  const takenBack = new Error('taken back');
  try {
    await deps.sql.begin(async (tx) => {
      await tx.unsafe("set local lock_timeout = '5s'");
      await runIn(deps, tx, job, { now: await lockPresent(tx, job, operation), records: emptyRecords() });
      throw takenBack;
    });
  } catch (error) {
    if (error !== takenBack) throw error;
  }
}

export const replyOfRefusal = (operation: Operation, input: unknown, refusal: Refusal): CommandReply => ({
  status: refusal.status,
  body: JSON.stringify(bodyWithPlaces(operation, input ?? {}, refusal)),
  headers: refusal.headers,
});

/** A command that changed nothing. */
const refused = (operation: Operation, { input }: CommandJob, refusal: Refusal, now: Temporal.Instant) => ({
  reply: replyOfRefusal(operation, input, refusal),
  now,
  records: emptyRecords() as Records,
});

async function replay(
  deps: CommandDeps,
  tx: Tx,
  { job, scopeHash, fingerprint }: { job: CommandJob; scopeHash: Buffer; fingerprint: Buffer },
): Promise<{ reply: CommandReply; isRepeat: boolean }> {
  const stored = await readKey({ db: tx, organizationId: job.organization_id }, scopeHash);
  if (!stored || stored.http_status === null) throw new TwinRunning();
  if (!fingerprint.equals(stored.fingerprint)) {
    const refusal = refuse.invalid({ idempotency_key: ['value_already_exist'] });
    return { reply: { status: refusal.status, body: JSON.stringify(refusal.body), headers: {} }, isRepeat: true };
  }
  const headers = stored.headers ?? {};
  const body = stored.is_digest
    ? await shownAgain(deps, tx, job, stored.body ?? '')
    : await shownForm(deps, tx, scopeHash, stored.body ?? '');
  // A redelivered job answers as the first time; only a repeated request is marked as a replay.
  if (!job.idempotency || stored.request_id === job.request_id)
    return { reply: { status: stored.http_status, body, headers }, isRepeat: false };
  const marks = { 'X-Svc-Replayed': 'true', 'X-Svc-Original-Request-Id': stored.request_id };
  return { reply: { status: stored.http_status, body, headers: { ...headers, ...marks } }, isRepeat: true };
}

/** An answer that reveals a secret is stored sealed, a large one as a digest (idempotency.md). */
export async function storedForm(
  { config, operations }: CommandDeps,
  tx: Tx,
  { operation, input, scopeHash }: { operation: Operation; input: unknown; scopeHash: Buffer },
  reply: CommandReply,
) {
  if (reply.status >= 400) return { ...reply, isDigest: false };
  // On the transaction's own connection, because another one from the pool would wait for those who wait for this one's
  // locks.
  if (operation.revealsSecret)
    return { ...reply, body: await sealText({ db: tx, config }, reply.body, answerPlace(scopeHash)), isDigest: false };
  const digest = digestOf(operations, operation, input, reply.body);
  return digest ? { ...reply, body: JSON.stringify(digest), isDigest: true } : { ...reply, isDigest: false };
}

const shownForm = async ({ config }: CommandDeps, tx: Tx, scopeHash: Buffer, body: string): Promise<string> =>
  isSealed(body) ? openText({ db: tx, config }, body, answerPlace(scopeHash)) : body;

/** The context of a command that must leave no record and no owed work. `now` is the command's time. */
export const silentContext = (deps: CommandDeps, tx: Tx, job: CommandJob, now: Temporal.Instant): Context => ({
  ...baseContext(deps, tx, job, now),
  record: () => assert(false, `${job.operation} records nothing here`),
  after: () => assert(false, `${job.operation} owes nothing here`),
});

/** The body of a large answer, read from the record as it is now. */
async function shownAgain(deps: CommandDeps, tx: Tx, job: CommandJob, digest: string): Promise<string> {
  const now = await readOrganizationNow({ db: tx, organizationId: job.organization_id }, job.sandbox);
  const context = silentContext(deps, tx, job, now);
  return readAgain(context, deps.operations, deps.operations.get(job.operation)!, JSON.parse(digest));
}

// The answer is logged as it travels (everywhere.md#wire-prefix).
export function apiLogRow({ config }: CommandDeps, job: CommandJob, reply: CommandReply, at: Temporal.Instant) {
  assert(job.api_key_id !== null, 'only a command that came with a key is in the API log');
  return {
    id: job.cid,
    organization_id: job.organization_id,
    request_id: job.request_id,
    api_key_id: job.api_key_id,
    client: job.request.client,
    http_method: job.request.method,
    http_status: reply.status,
    request_origin: job.request.origin,
    request_path: job.request.path,
    request_body: job.request.parameters,
    request_response: reply.body === '' ? null : redactedText(toWire(JSON.parse(reply.body), config.WIRE_PREFIX)),
    logged_at: at.toString(),
  };
}
