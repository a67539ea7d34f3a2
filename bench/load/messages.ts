import type { EventSource } from '../data/event-source.ts';

/** Requests to send, the same for every generator. */
export interface Load {
  /** Whole address of the operation. */
  url: string;
  apiKey: string;
  source: EventSource;
  eventsPerRequest: number;
  /** Number of the first request; the generator counts on from there. */
  firstRequest: number;
  connections: number;
}

export interface ClosedLoad extends Load {
  warmUpSeconds: number;
  measuredSeconds: number;
}

export interface OpenLoad extends Load {
  ratePerSecond: number;
  seconds: number;
}

/** What became of the requests of a generator. */
interface Sent {
  /** Answered requests by status. */
  statuses: Record<string, number>;
  /** Requests that were cut off at the end: whether they took effect is unknown. */
  unanswered: number[];
  /** Number after the last request made. */
  nextRequest: number;
}

export interface ClosedResult extends Sent {
  requestsPerSecond: number;
}

export interface OpenResult extends Sent {
  p50Ms: number;
  p99Ms: number;
}

/** A neighbour's requests: so many of each kind a second. */
export interface NeighbourLoad {
  url: string;
  apiKey: string;
  seconds: number;
  perSecond: number;
  /** Part of every name that it makes, so that nothing is sent twice. */
  label: string;
}

export interface Latencies {
  p50Ms: number;
  p99Ms: number;
  /** Answers with another status than 200, and requests without an answer. */
  failed: number;
}

export type NeighbourResult = Record<'writes' | 'reads' | 'events', Latencies>;
