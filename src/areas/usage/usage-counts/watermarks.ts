import { instantText } from '../../../engine/calendar/instant-text.ts';
import type { Instant } from '../../../engine/calendar/instants.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { newId } from '../../../platform/ids.ts';
import { DIGEST_VERSION, readDigestSum } from '../../catalog/usage-shapes/event-digest.ts';
import { sumsUpToDays } from '../../catalog/usage-shapes/usage-shape.ts';
import {
  type DigestedEvents,
  type DigestedHours,
  type DigestRow,
  sumDigests,
  sumDigestsUpTo,
} from './digest-queries.ts';
import { type FullHours, fullDays, planOfScanning, plansOfReading, type ReadPlan } from './full-hours-and-days.ts';
import type { ChargeToCount } from './request.ts';
import { EVER, sharedInstants } from './shared-statements.ts';

/** The watermark of counted usage: the last event counted. */
export interface Watermark {
  /** Version of the digest; absent for the first. See usage-shapes/event-digest.ts. */
  version?: number;
  max_id: string | null;
  /** Null if there are too many events to count, and then no digest. */
  count: number | null;
  digest: string | null;
}

/** The window in which the events of a charge's metric were counted. */
export interface CountedWindow extends Pick<ChargeToCount, 'externalSubscriptionId' | 'window'> {
  metric: Pick<ChargeToCount['metric'], 'id' | 'code' | 'aggregation_type' | 'field_name'>;
}

/**
 * How many events are digested one by one at most if no rollup has their digest, so that an invoice never waits for
 * them.
 */
const MOST_DIGESTED_EVENTS = 100_000;

/**
 * The watermark of each window: an id that none of its events exceeds, their number and their digest, in the requested
 * order.
 *
 * Full hours come from the rollups, which keep digests, and the at most two partial hours at the edges from raw events.
 * A window without a usable rollup, or with hours from before digests existed, is read from its events if these are
 * few; otherwise it has neither number nor digest. One statement, at most two.
 *
 * Rule: invoice-verification.md#stored-inputs `events_watermark`.
 */
export async function readWatermarks(scope: Scope, windows: readonly CountedWindow[]): Promise<Watermark[]> {
  if (windows.length === 0) return [];
  const planOf = plansOfReading();
  const plans = windows.map(({ window }) => planOf(window));
  const parts = await sumDigests(
    scope,
    plans.flatMap(({ hours }, n) => (hours === null ? [] : [hoursOf(n, windows[n]!, hours)])),
    plans.flatMap(({ raw }, n) => raw.map((range) => eventsOf(n, windows[n]!, range))),
  );
  const marks = plans.map(({ hours }, n) => {
    const own = parts.filter((part) => part.n === n);
    return hours === null || own.some((part) => part.is_rollup) ? watermarkOf(own) : undefined;
  });

  const unanswered = windows.flatMap((counted, n) =>
    marks[n] === undefined ? planOfScanning(counted.window).raw.map((range) => eventsOf(n, counted, range)) : [],
  );
  const scanned = unanswered.length === 0 ? [] : await sumDigestsUpTo(scope, unanswered, MOST_DIGESTED_EVENTS + 1);
  return marks.map((mark, n) => mark ?? watermarkOfFew(scanned.filter((part) => part.n === n)));
}

/** Undefined if some events are in no digest. */
function watermarkOf(parts: readonly DigestRow[]): Watermark | undefined {
  const events = parts.reduce((total, part) => total + part.events_count, 0);
  const sum = readDigestSum(parts.reduce((total, part) => total + BigInt(part.digest), 0n));
  if (sum.count !== events) return undefined;
  const ids = parts.flatMap(({ max_id }) => max_id ?? []).sort();
  return { version: DIGEST_VERSION, max_id: ids.at(-1) ?? null, count: events, digest: sum.digest };
}

/** With too many events the watermark includes all stored by now, whose ids are smaller than a new one. */
const watermarkOfFew = (parts: readonly DigestRow[]): Watermark =>
  (parts.every((part) => part.events_count <= MOST_DIGESTED_EVENTS) && watermarkOf(parts)) || {
    version: DIGEST_VERSION,
    max_id: newId(),
    count: null,
    digest: null,
  };

function hoursOf(n: number, { externalSubscriptionId, metric }: CountedWindow, hours: FullHours): DigestedHours {
  const days = sumsUpToDays(metric.aggregation_type) ? fullDays(hours) : null;
  return {
    n,
    subscription: externalSubscriptionId,
    metric_id: metric.id,
    code: metric.code,
    aggregation: metric.aggregation_type,
    field: metric.field_name,
    from: beginText(hours.from),
    to: instantText(hours.to),
    day_from: days && beginText(days.from),
    day_to: days && instantText(days.to),
  };
}

const beginText = (from: Instant | null): string => (from === null ? EVER : instantText(from));

const eventsOf = (
  n: number,
  { externalSubscriptionId, metric, window }: CountedWindow,
  { from, to }: ReadPlan['raw'][number],
): DigestedEvents => ({
  n,
  subscription: externalSubscriptionId,
  code: metric.code,
  field: metric.field_name,
  from: beginText(from),
  to: instantText(to),
  ...sharedInstants(window),
});
