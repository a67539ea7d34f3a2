import type { Request } from 'express';
import type { Config } from '../../platform/config.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import { refuse } from '../../platform/refusal.ts';
import type { Replies } from '../../platform/replies/replies.ts';
import type { Identity } from '../authenticate.ts';

export interface EventsRequest {
  identity: Identity;
  requestId: string;
  request: Request;
  query: Record<string, unknown>;
  /** Parsed JSON; number literals that a double cannot hold are LosslessNumbers. */
  body: unknown;
}

/** What the edge calls for operations of kind `events`; the text is the serialised body. Refusals are thrown. */
export interface EventsLane {
  answer(
    operation: string,
    request: EventsRequest,
  ): Promise<{ status: number; text: string; headers?: Record<string, string> }>;
  /** Flushes what waits and answers it. */
  stop(): Promise<void>;
}

export function createEventsLane(_deps: {
  producer: Producer;
  replies: Replies;
  config: Config;
  log: Log;
  processId: string;
}): EventsLane {
  return {
    answer: () => Promise.reject(refuse.unavailable()),
    stop: () => Promise.resolve(),
  };
}
