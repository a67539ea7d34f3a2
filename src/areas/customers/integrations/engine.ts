import type { Redis } from 'ioredis';
import { realNowMs } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { isPassing } from '../../../platform/db/refusal-of-database.ts';
import type { IntegrationId, OrganizationId } from '../../../platform/ids.ts';
import { openProviderCalls, type ProviderCalls } from '../../../platform/payments/provider-calls.ts';
import { redactedEvent, redactedPart } from '../../../platform/payments/redact-event.ts';
import { announce } from '../../../platform/reactions.ts';
import { anrokEngine } from '../../../platform/taxes/anrok.ts';
import type { TaxEngine, TaxOutcome } from '../../../platform/taxes/port.ts';
import { sandboxTaxEngine } from '../../../platform/taxes/sandbox.ts';
import { connectionWorks } from '../announcements.ts';
import { recordProviderError } from './announce.ts';
import { findIntegrationById } from './queries.ts';
import { readApiKey } from './secrets.ts';
import { type Call, insertCall, lockIntegration, setStatus } from './writes.ts';

/** How many calls in a row answered 401 or 403 make a connection failing. */
const MOST_UNAUTHORIZED = 3;
/** How many calls an engine takes in a second; its limit counts strictly, so no call runs ahead of the pace. */
export const CALLS_PER_SECOND = 10;
/** Longest text of a failure that is listed. */
const BODY_MAX = 2000;

/**
 * The engine of a connection, deleted ones too; undefined when its key is gone or cannot be opened. In a sandbox it is
 * always the double: a row that was changed by hand reaches no account. Rule: integrations.md#routes.
 */
export async function engineOf(
  { db, config }: { db: Db; config: Config },
  organization: { id: OrganizationId; sandbox: boolean },
  integrationId: IntegrationId,
): Promise<TaxEngine | undefined> {
  if (organization.sandbox) return sandboxTaxEngine();
  const row = await findIntegrationById({ db, organizationId: organization.id }, integrationId);
  const apiKey = row && (await readApiKey({ db, config }, row).catch(undefinedUnlessPassing));
  return apiKey === undefined ? undefined : anrokEngine({ apiKey, apiUrl: config.ANROK_API_URL });
}

function undefinedUnlessPassing(error: unknown): undefined {
  if (isPassing(error)) throw error;
}

/**
 * Paces the calls to tax engines, of all processes together; those for which a caller waits have a part of the pace to
 * themselves. Rule: tax-engines.md#failures.
 */
export const taxEngineCalls = (
  { redis, config }: { redis: Redis; config: Config },
  { isWaited = false }: { isWaited?: boolean } = {},
): ((jobId: string) => ProviderCalls) => {
  const pace = { prefix: config.REDIS_PREFIX, perSecond: CALLS_PER_SECOND, isWaited };
  return openProviderCalls(redis, isWaited ? pace : { ...pace, aheadMs: 0 });
};

/** A call and how long it took. */
export async function timed<Outcome extends TaxOutcome<unknown>>(
  call: Pick<Call, 'operation' | 'resourceId'>,
  run: () => Promise<Outcome>,
): Promise<{ outcome: Outcome; call: Call }> {
  const startedMs = realNowMs();
  const outcome = await run();
  const error = outcome.kind === 'answered' ? null : outcome.fault.code;
  const body = outcome.kind === 'answered' || outcome.trace.body === null ? null : listedBody(outcome.trace.body);
  const durationMs = realNowMs() - startedMs;
  return { outcome, call: { ...call, durationMs, error, trace: { ...outcome.trace, body } } };
}

/** The body of a failure as it is listed: without what proves who pays, and cut. Rule: integrations.md#routes. */
function listedBody(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null) return JSON.stringify(redactedEvent(body)).slice(0, BODY_MAX);
  } catch {
    // A text that is no JSON is redacted as a text.
  }
  return redactedPart(text).slice(0, BODY_MAX);
}

/**
 * Lists a call and follows what it says about the credentials: refused in a check or three times in a row, the
 * connection is failing and that is announced; one success ends it, and what got no answer is asked again. Single calls
 * that are refused between others that are not change nothing: they are repeated at their times.
 *
 * Rule: integrations.md#status.
 */
export async function noteCall(
  ctx: Context,
  integrationId: IntegrationId,
  { outcome, call }: { outcome: TaxOutcome<unknown>; call: Call },
): Promise<void> {
  await insertCall(ctx, integrationId, call);
  await lockIntegration(ctx, integrationId);
  const stored = await findIntegrationById(ctx, integrationId);
  if (!stored || stored.deleted_at !== null) return;
  if (outcome.kind === 'refused' && outcome.isUnauthorized) {
    const unauthorized_calls = stored.unauthorized_calls + 1;
    const fails = call.operation === 'check' || unauthorized_calls >= MOST_UNAUTHORIZED;
    const status = fails ? 'failing' : stored.status;
    const last_error = fails ? outcome.fault.message : stored.last_error;
    await setStatus(ctx, integrationId, { status, last_error, unauthorized_calls });
    if (status === 'failing' && stored.status !== 'failing') recordChange(ctx, stored.id, outcome.fault);
    if (status === 'failing' && stored.status !== 'failing') recordProviderError(ctx, stored, outcome.fault);
    return;
  }
  if (outcome.kind === 'unreachable' || (stored.status === 'connected' && stored.unauthorized_calls === 0)) return;
  await setStatus(ctx, integrationId, { status: 'connected', last_error: null, unauthorized_calls: 0 });
  if (stored.status === 'failing') recordChange(ctx, stored.id, null);
  if (stored.status !== 'connected') await announce(ctx, connectionWorks, { integration_id: integrationId });
}

function recordChange(ctx: Context, svc_id: IntegrationId, fault: { message: string } | null): void {
  const status = fault ? { deleted: 'connected', added: 'failing' } : { deleted: 'failing', added: 'connected' };
  ctx.record({ security: { event: 'integration.updated', resources: { svc_id, status } } });
}
