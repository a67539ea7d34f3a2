import { AGGREGATION_TRAITS, type AggregationType } from '../../../engine/metrics/aggregation-types.ts';
import type {
  EventId,
  ExternalSubscriptionId,
  MetricId,
  OrganizationId,
  PlanId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { meteredText } from '../../catalog/usage-shapes/numeric-properties.ts';

/** Why no charge takes an event, in the order in which the reasons are checked (event-verdicts.md#verdict). */
export const UNMATCHED_REASONS = [
  'metric_not_found',
  'subscription_missing',
  'subscription_not_found',
  'subscription_pending',
  'before_subscription',
  'after_subscription',
  'no_charge',
  'property_missing',
  'property_not_numeric',
] as const;
export type UnmatchedReason = (typeof UNMATCHED_REASONS)[number];

/** Times are ISO texts of one form, which sort as the instants do. */
export interface EventToMatch {
  id: EventId;
  organization_id: OrganizationId;
  external_subscription_id: ExternalSubscriptionId;
  code: string;
  timestamp: string;
  created_at: string;
  /** Null if no live metric has the code. */
  metric_id: MetricId | null;
  aggregation_type: AggregationType | null;
  recurring: boolean | null;
  /** Text of the metric's field; null if it is absent or the metric has none. */
  value: string | null;
}

/** A subscription of the event's external id. */
export interface CandidateSubscription {
  id: SubscriptionId;
  organization_id: OrganizationId;
  external_id: string;
  plan_id: PlanId;
  status: 'pending' | 'incomplete' | 'active' | 'terminated' | 'canceled';
  started_at: string | null;
  terminated_at: string | null;
  /** Whether it continues an earlier record. */
  replaces_another: boolean;
}

export interface Match {
  /** The subscription that the event belongs to, or whose usage it changes; undefined if there is none. */
  subscription: CandidateSubscription | undefined;
  /** The subscription whose charges take it: `subscription`, or an incomplete one. */
  taking: CandidateSubscription | undefined;
  /** Undefined if a charge takes it. */
  reason: UnmatchedReason | undefined;
}

/**
 * Which subscription an event belongs to, and why no charge takes it if none does.
 *
 * candidates  all subscriptions of the event's external id
 * isCharged   whether a plan has a live charge on a metric
 *
 * Rules: events.md#subscription-of-an-event (2), event-verdicts.md#verdict.
 */
export function matchEvent(
  event: EventToMatch,
  candidates: readonly CandidateSubscription[],
  isCharged: (planId: PlanId, metricId: MetricId) => boolean,
): Match {
  const covering = resolve(event, candidates);
  const active = candidates.find((candidate) => candidate.status === 'active');
  const subscription = covering ?? (active && isCarriedOver(event, active) ? active : undefined);
  const taking = subscription ?? candidates.find((each) => isStarted(each) && covers(each, event.timestamp));
  return { subscription, taking, reason: reasonOf(event, candidates, taking, isCharged) };
}

const isStarted = ({ started_at, status }: CandidateSubscription): boolean =>
  started_at !== null && status !== 'canceled';

/**
 * Whether a subscription counts an event that it does not cover: if its metric is recurring, except that a running
 * total starts over with a subscription without predecessor (events.md#subscription-of-an-event,
 * aggregation.md#weighted-sum "initial").
 */
const isCarriedOver = (event: EventToMatch, subscription: CandidateSubscription): boolean =>
  event.recurring === true && (event.aggregation_type !== 'weighted_sum_agg' || subscription.replaces_another);

/**
 * The subscription that covers the event's timestamp. An event at the very instant of a change belongs to the old one
 * if it was stored before the change (events.md#subscription-of-an-event).
 */
function resolve(event: EventToMatch, candidates: readonly CandidateSubscription[]): CandidateSubscription | undefined {
  const covering = candidates
    .filter(({ status }) => status === 'active' || status === 'terminated')
    .filter((candidate) => covers(candidate, event.timestamp))
    .sort(byPrecedence);
  const [first] = covering;
  const old = covering.find((candidate) => candidate !== first && candidate.terminated_at === first!.started_at);
  return old && event.id < first!.id ? old : first;
}

/** Like aggregation windows: from the millisecond of the start through the exact end. */
const covers = ({ started_at, terminated_at }: CandidateSubscription, timestamp: string): boolean =>
  started_at !== null &&
  !isBeforeStart(timestamp, started_at) &&
  (terminated_at === null || terminated_at >= timestamp);

/** Whether a timestamp lies before a start, which counts from its millisecond on. */
export const isBeforeStart = (timestamp: string, startedAt: string): boolean =>
  timestamp < `${startedAt.slice(0, 23)}000Z`;

function byPrecedence(a: CandidateSubscription, b: CandidateSubscription): number {
  if (a.terminated_at !== b.terminated_at) {
    if (a.terminated_at === null) return -1;
    if (b.terminated_at === null) return 1;
    return a.terminated_at > b.terminated_at ? -1 : 1;
  }
  if (a.started_at !== b.started_at) return a.started_at! > b.started_at! ? -1 : 1;
  return a.id > b.id ? -1 : 1;
}

function reasonOf(
  event: EventToMatch,
  candidates: readonly CandidateSubscription[],
  taking: CandidateSubscription | undefined,
  isCharged: (planId: PlanId, metricId: MetricId) => boolean,
): UnmatchedReason | undefined {
  if (event.metric_id === null) return 'metric_not_found';
  if (event.external_subscription_id.trim() === '') return 'subscription_missing';
  const started = candidates.filter(isStarted);
  if (started.length === 0) {
    const isPending = candidates.some(({ status }) => status === 'pending' || status === 'incomplete');
    return isPending ? 'subscription_pending' : 'subscription_not_found';
  }
  if (!taking)
    return started.every(({ started_at }) => isBeforeStart(event.timestamp, started_at!))
      ? 'before_subscription'
      : 'after_subscription';
  if (!isCharged(taking.plan_id, event.metric_id)) return 'no_charge';
  const traits = AGGREGATION_TRAITS[event.aggregation_type!];
  if (traits.needsField && event.value === null) return 'property_missing';
  if (traits.needsNumber && meteredText(event.value) === null) return 'property_not_numeric';
  return undefined;
}
