import type { EventId, ExternalSubscriptionId, OrganizationId } from '../../../platform/ids.ts';
import type { Explanation } from './explain/verdict.ts';
import type { RatedCall } from './rated-call.ts';

/** An event as the ingress passes it to storage: checked, numbers in canonical text, only JSON left to parse. */
export interface IncomingEvent {
  id: EventId;
  transaction_id: string;
  external_subscription_id: ExternalSubscriptionId;
  code: string;
  /** ISO text with microseconds; null if none was sent, so that the time of reception applies. */
  timestamp: string | null;
  /**
   * Time of its message in a stream, in the same form: it applies in place of the time of reception. It is no part of
   * what was sent, so that the same event in a later message is a replay.
   */
  source_time?: string;
  /** JSON text of an object. */
  properties: string;
  precise_total_amount_cents: string | null;
  /** First 16 bytes of the digest of what was sent, in hex (events.md#deduplication). */
  digest: string;
  /** It came through a door for the usage of models, and is rated when it is stored. */
  ai?: AiMark;
}

/**
 * What rating an event needs beside its properties; the digest does not cover it. An event that looks like one of these
 * doors but came as an ordinary event has none. Rule: ai-usage.md#the-event.
 */
export interface AiMark {
  /** What its sender believes that the call cost: plain decimal text, main units of the book's currency. */
  reported_cost?: string;
  /** A gateway answered from its cache, so the provider asked for nothing. */
  served_from_cache?: true;
  /** It is one part of a call, priced by a charge of the plan: its cost is rated, its amount is not. */
  is_priced_by_plan?: true;
}

/** Events of one request: all of them are stored, or none when `atomic`. */
export interface IncomingBatch {
  organization_id: OrganizationId;
  sandbox: boolean;
  atomic: boolean;
  /** Time of reception, ISO text with microseconds. */
  received_at: string;
  user_agent: string | null;
  remote_address: string | null;
  /** What to return beside the verdicts; absent for nothing (event-verdicts.md#verdict). */
  explain?: Explain;
  /** It settles a hold, which counts it in budgets; set by the worker, never in a job. */
  isHeld?: true;
  events: IncomingEvent[];
}

/** `full`: how billing counts each event. `reasons`: only whether it counts, for bulk. */
export type Explain = 'full' | 'reasons';
export type Explained = Explanation | Pick<Explanation, 'outcome' | 'reasons'>;

/**
 * The result of one event: 0 stored as sent, 1 another event has its key, r replayed, s stored but changed by the
 * worker (with the body that is now stored), c a call of a model that was stored with what rating wrote, e refused.
 * Explained events carry `x`.
 * Rule: storing-events.md#jobs-and-replies.
 */
export type Verdict =
  | 0
  | 1
  | { r: string; x?: Explained }
  | { s: string; x?: Explained }
  | { c: RatedCall; x?: Explained }
  | { e: { status: number; body: Record<string, unknown> } };

/** Whether the event is stored, now or earlier. */
export const isAccepted = (verdict: Verdict): verdict is Exclude<Verdict, 1 | { e: unknown }> =>
  verdict === 0 || (typeof verdict === 'object' && !('e' in verdict));

/** Verdicts in the order of the events; null = all stored as sent. */
export type Verdicts = Verdict[] | null;

/**
 * Replaces the verdicts of events that would delay other organizations: nothing of their request is stored, and it must
 * be sent again in a job of its own organization.
 */
export const HELD = 'held';

/** Reply to a job that failed for good: its requests are answered 503. */
export const STORING_FAILED = 'failed';
