import { cutText } from '../platform/api-log/redact.ts';
import type { ApiLogRow } from '../platform/api-log/write-api-logs.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import { newId } from '../platform/ids.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { loggedRequest } from './logged-request.ts';
import type { Call } from './run-operation.ts';

// How many rows of requests that changed nothing are sent together (logs.md#storage).
const ROWS_PER_JOB = 500;
const FLUSH_EVERY_MS = 1000;
// How many rows wait here at most while Redis is away; further ones are dropped.
const MOST_WAITING = 20_000;
// The command was sent and logs itself (504, 503), or the caller must not be logged (401, 429).
const NOT_LOGGED = new Set([401, 429, 503, 504]);

/** API log rows of requests that no worker committed, refused or only computed: collected and sent as one job. */
export class UncommittedLog {
  readonly #producer: Producer;
  readonly #timer: NodeJS.Timeout;
  #rows: ApiLogRow[] = [];

  constructor(producer: Producer) {
    this.#producer = producer;
    this.#timer = setInterval(() => void this.flush(), FLUSH_EVERY_MS);
    this.#timer.unref();
  }

  note({ request, identity, requestId, sent }: Call, answer: { status: number; text: string }): void {
    if (NOT_LOGGED.has(answer.status) || this.#rows.length >= MOST_WAITING) return;
    this.#rows.push({
      id: newId(),
      organization_id: identity.organizationId,
      ...loggedRequest(request, identity, requestId, sent),
      http_status: answer.status,
      request_response: cutText(answer.text),
      logged_at: realNow().toString(),
    });
    if (this.#rows.length >= ROWS_PER_JOB) void this.flush();
  }

  async flush(): Promise<void> {
    while (this.#rows.length > 0) {
      const rows = this.#rows.splice(0, ROWS_PER_JOB);
      await this.#producer.add('api-log.write', { rows }).catch(() => {}); // lost together with Redis; these requests
      // changed nothing
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
