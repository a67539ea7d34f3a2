import type { Config } from '../../platform/config.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import type { Replies } from '../../platform/replies/replies.ts';
import type { IncomingBatch, Verdicts } from '../../resources/events/incoming.ts';

export interface LaneParts {
  producer: Producer;
  replies: Replies;
  config: Config;
  log: Log;
  /** Channel of replies of this process. */
  processId: string;
}

/** Collects the events of concurrent requests into few jobs. */
export interface EventsLane {
  /**
   * Sends the events of one request and resolves when they are stored.
   *
   * @throws Refusal 503 when storing failed for good or too much waits, 504 write_pending after the write timeout
   */
  send(batch: IncomingBatch, requestId: string): Promise<Verdicts>;
  /** Whether so much waits that a request is to be refused before its body is parsed: 503 with `Retry-After: 1`. */
  isFull(): boolean;
  /** Events that wait for their acknowledgement. */
  waiting(): number;
  /** Sends what is open and waits for its acknowledgement. */
  stop(): Promise<void>;
}

export function createEventsLane(_parts: LaneParts): EventsLane {
  throw new Error('not built yet');
}
