import { errorsOf } from '../../areas/usage/events/answer-text.ts';
import { placesOfEvent } from '../../areas/usage/events/error-places.ts';
import type { IncomingEvent, Verdict } from '../../areas/usage/events/incoming-event.ts';
import type { FieldErrors } from '../../platform/refusal.ts';
import type { ErrorPlace } from '../../platform/schema/error-places.ts';

/** How many errors an answer lists; more are only counted. */
const MOST_ERRORS = 1000;

interface LineError {
  line: number;
  transaction_id: string | null;
  error_details: FieldErrors;
  /** Path within the event of the line. */
  error_places?: ErrorPlace[];
}

/** The results so far of the lines of a bulk request. Rule: bulk-events.md#bulk. */
export class BulkReport {
  #stored = 0;
  #replayed = 0;
  #rejected = 0;
  readonly #errors: LineError[] = [];
  readonly #notCounted: Record<string, number> | null;

  constructor(explains: boolean) {
    this.#notCounted = explains ? {} : null;
  }

  reject(line: number, transactionId: string | null, errors: FieldErrors): void {
    this.#rejected += 1;
    // Errors at the door are found before those of storing, so the list is sorted at the end.
    if (this.#errors.length >= MOST_ERRORS) return;
    const places = placesOfEvent(errors, []);
    this.#errors.push({
      line,
      transaction_id: transactionId,
      error_details: errors,
      ...(places.length > 0 ? { error_places: places } : {}),
    });
  }

  note(line: number, event: IncomingEvent, verdict: Verdict): void {
    const errors = errorsOf(verdict);
    if (errors) this.reject(line, event.transaction_id, errors);
    else if (typeof verdict === 'object' && 'r' in verdict) this.#replayed += 1;
    else this.#stored += 1;
    const reason = typeof verdict === 'object' && 'x' in verdict ? verdict.x?.reasons[0] : undefined;
    if (this.#notCounted && reason !== undefined) this.#notCounted[reason] = (this.#notCounted[reason] ?? 0) + 1;
  }

  counts(): Record<'stored' | 'replayed' | 'rejected', number> {
    return { stored: this.#stored, replayed: this.#replayed, rejected: this.#rejected };
  }

  view() {
    return {
      lines: this.#stored + this.#replayed + this.#rejected,
      ...this.counts(),
      errors_truncated: this.#rejected > this.#errors.length,
      errors: [...this.#errors].sort((a, b) => a.line - b.line),
      ...(this.#notCounted ? { not_counted: this.#notCounted } : {}),
    };
  }
}
