import type { Db } from '../../../../platform/db/connect.ts';
import { shownText } from '../answer-text.ts';
import { type IncomingBatch, type IncomingEvent, isAccepted, type Verdict } from '../incoming-event.ts';
import { parseProperties } from '../property-json.ts';
import { eventText } from '../view.ts';
import { listExplainedMetrics, listExplainedSubscriptions } from './terms-of-events.ts';
import { type Explanation, explain, type StoredEvent } from './verdict.ts';

/**
 * Adds to the verdicts of a stored batch how billing counts each event, if the request asked for it: two statements,
 * sent together. A refused event has nothing to explain.
 *
 * now  real time as ISO text; under a test clock the time at which an event was created is the present
 *
 * Rule: event-verdicts.md#verdict.
 */
export async function explainBatch(
  db: Db,
  batch: IncomingBatch,
  { verdicts, now }: { verdicts: readonly Verdict[]; now: string },
): Promise<Verdict[]> {
  const refuses = batch.atomic && !verdicts.every(isAccepted);
  if (batch.explain === undefined || refuses) return [...verdicts];
  const stored = batch.events.map((event, index) => storedEvent(batch, event, verdicts[index]!));
  const events = stored.filter((event) => event !== undefined);
  if (events.length === 0) return [...verdicts];
  const externalIds = unique(events.map((event) => event.external_subscription_id));
  const timestamps = events.map((event) => event.timestamp).sort();
  const [subscriptions, metrics] = await Promise.all([
    listExplainedSubscriptions({ db, organizationId: batch.organization_id }, externalIds, {
      from: timestamps[0]!,
      to: timestamps.at(-1)!,
    }),
    listExplainedMetrics(
      { db, organizationId: batch.organization_id },
      unique(events.map((event) => event.code)),
      externalIds,
    ),
  ]);
  const metricOf = new Map(metrics.map((metric) => [metric.code, metric]));
  return batch.events.map((event, index) => {
    const verdict = verdicts[index]!;
    const found = stored[index];
    if (found === undefined) return verdict;
    const candidates = subscriptions.filter((each) => each.external_id === found.external_subscription_id);
    const explanation = explain(found, metricOf.get(found.code), candidates, batch.sandbox ? found.created_at : now);
    return explained(batch, event, verdict, explanation);
  });
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

/** The stored event with the transaction id; undefined if it was refused. */
function storedEvent(batch: IncomingBatch, event: IncomingEvent, verdict: Verdict): StoredEvent | undefined {
  if (!isAccepted(verdict)) return undefined;
  const { id, external_subscription_id, code } = event;
  if (verdict === 0) {
    const timestamp = event.timestamp ?? batch.received_at;
    const properties = parseProperties(event.properties);
    const created_at = batch.received_at;
    return { id, external_subscription_id, code, timestamp, created_at, properties, isReplayed: false };
  }
  const isReplayed = 'r' in verdict;
  // Timestamps are truncated to the millisecond, as matching compares them.
  const shown = parseProperties(shownText(event, batch, verdict)) as {
    svc_id: string;
    timestamp: string;
    created_at: string;
    properties: Record<string, unknown>;
  };
  const timestamp = `${shown.timestamp.slice(0, 23)}000Z`;
  const { svc_id, properties, created_at } = shown;
  return { id: svc_id, external_subscription_id, code, timestamp, created_at, properties, isReplayed };
}

/** A verdict with its explanation; for bulk only the parts that are counted. */
function explained(batch: IncomingBatch, event: IncomingEvent, verdict: Verdict, x: Explanation): Verdict {
  const told = batch.explain === 'reasons' ? { outcome: x.outcome, reasons: x.reasons } : x;
  if (typeof verdict === 'object' && ('r' in verdict || 's' in verdict || 'c' in verdict))
    return { ...verdict, x: told };
  const s = eventText({ ...event, timestamp: event.timestamp ?? batch.received_at, created_at: batch.received_at });
  return { s, x: told };
}
