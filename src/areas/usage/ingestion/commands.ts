import { canonicalJson } from '../../../platform/canonical-json.ts';
import { realNowExactMs } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { MANDATORY } from '../../../platform/schema/fields.ts';
import { doorSettings } from '../ai-doors/door-settings.ts';
import { readAiSettings } from '../ai-doors/queries.ts';
import type { DeadCode } from '../connectors/dead-message.ts';
import { storeOrRefuse } from '../events/commands.ts';
import { isoOfMs } from '../events/timestamps.ts';
import {
  failDeadLetter,
  getConnector,
  getDeadLetter,
  listConnectors,
  listDeadLetters,
  resolveDeadLetter,
  setPaused,
  type WholeDeadLetter,
} from './queries.ts';
import { batchOfLetter, type Failure, failureOf } from './read-again.ts';
import type { ConnectorsQuery, DeadLetterRetry, DeadLettersQuery } from './schema.ts';
import { connectorView, deadLetterView, wholeDeadLetterView } from './view.ts';

export async function listConnectorsPage(ctx: Context, { query }: { query: ConnectorsQuery }) {
  const { rows, totalCount } = await listConnectors(ctx, query);
  return { connectors: rows.map(connectorView), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 connector */
export async function showConnector(ctx: Context, { code }: { code: string }) {
  return { connector: connectorView(await getConnector(ctx, code)) };
}

/**
 * Every process stops reading within seconds; what is being stored is stored.
 *
 * @throws Refusal 404 connector
 * Rule: streams.md#connectors.
 */
export async function pauseConnector(ctx: Context, { code }: { code: string }) {
  await setPaused(ctx, code, true);
  return showConnector(ctx, { code });
}

/** @throws Refusal 404 connector */
export async function resumeConnector(ctx: Context, { code }: { code: string }) {
  await setPaused(ctx, code, false);
  return showConnector(ctx, { code });
}

/** @throws Refusal 422 page */
export async function listDeadLettersPage(ctx: Context, { query }: { query: DeadLettersQuery }) {
  const { rows, total } = await listDeadLetters(ctx, query);
  return { dead_letters: rows.map(deadLetterView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 dead_letter */
export async function showDeadLetter(ctx: Context, { svc_id }: { svc_id: string }) {
  return wholeDeadLetterView(await getDeadLetter(ctx, svc_id));
}

/**
 * Tries a dead letter again, as it came or as the caller corrects it: all its events are stored, or it stays open with
 * the reason.
 *
 * @throws Refusal 404 dead_letter; 405 invalid_status when it is resolved; 422 payload when only a part of it was kept
 * Rule: streams.md#retry.
 */
export async function retryDeadLetter(
  ctx: Context,
  { svc_id, body }: { svc_id: string; body: DeadLetterRetry | undefined },
) {
  const letter = await getDeadLetter(ctx, svc_id, { isLocked: true });
  if (letter.status !== 'open') throw refuse.notAllowed('invalid_status');
  const corrected = body?.payload;
  if (corrected === undefined && letter.is_cut) throw refuse.invalid({ payload: [MANDATORY] });
  const payload = corrected === undefined ? letter.payload : bytesOf(corrected);
  const attempts = letter.attempts + 1;
  const headers = corrected !== undefined && OF_HEADERS.has(letter.error_code) ? {} : letter.headers;
  const failure = await storeAgain(ctx, { ...letter, headers }, payload);
  if (failure) {
    const { code: error_code, message: error_message } = failure;
    await failDeadLetter(ctx, letter.id, { error_code, error_message, attempts });
  } else {
    await resolveDeadLetter(ctx, letter.id, { status: 'retried', attempts });
  }
  return showDeadLetter(ctx, { svc_id: letter.id });
}

/** @throws Refusal 404 dead_letter; 405 invalid_status when it is resolved */
export async function discardDeadLetter(ctx: Context, { svc_id }: { svc_id: string }) {
  const { id, status, attempts } = await getDeadLetter(ctx, svc_id, { isLocked: true });
  if (status !== 'open') throw refuse.notAllowed('invalid_status');
  await resolveDeadLetter(ctx, id, { status: 'discarded', attempts });
  return showDeadLetter(ctx, { svc_id: id });
}

/** What may be wrong with the headers of a message: a corrected one is then read without them. */
const OF_HEADERS: ReadonlySet<DeadCode> = new Set(['unsupported_format', 'organization_mismatch']);

/** A text is a message as it would be sent; any other value is one in JSON. */
const bytesOf = (sent: unknown): Uint8Array => Buffer.from(typeof sent === 'string' ? sent : canonicalJson(sent));

/** Undefined when all events are stored, now or earlier; otherwise nothing is. */
async function storeAgain(ctx: Context, letter: WholeDeadLetter, payload: Uint8Array): Promise<Failure | undefined> {
  const { cloudEventTypes: types } = doorSettings(await readAiSettings(ctx));
  const now = isoOfMs(realNowExactMs());
  const batch = batchOfLetter(ctx, { ...letter, payload }, { types, now });
  return 'code' in batch ? batch : failureOf(await storeOrRefuse(ctx, batch, now), payload);
}
