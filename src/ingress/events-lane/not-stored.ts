import { addNotStored } from '../../areas/usage/event-volumes/not-stored.ts';
import { isAccepted, type Verdict } from '../../areas/usage/events/incoming-event.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { Sql } from '../../platform/db/connect.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log/log.ts';

const WRITE_EVERY_MS = 10_000;
const LANES = 8;

interface Counts {
  replayed: number;
  rejected: number;
}

/**
 * Counts events that were repeated or refused, which leave no row, and adds them to the volume every ten seconds. A
 * process that is killed loses what it has counted since. Rule: event-volume.md#counting.
 */
export class NotStoredEvents {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  readonly #lane = process.pid % LANES;
  #counts = new Map<OrganizationId, Counts>();

  constructor({ sql, log }: { sql: Sql; log: Log }) {
    this.#sql = sql;
    this.#log = log;
    this.#timer = setInterval(() => void this.flush(), WRITE_EVERY_MS);
    this.#timer.unref();
  }

  add(organizationId: OrganizationId, { replayed, rejected }: Counts): void {
    if (replayed === 0 && rejected === 0) return;
    const known = this.#counts.get(organizationId) ?? { replayed: 0, rejected: 0 };
    this.#counts.set(organizationId, { replayed: known.replayed + replayed, rejected: known.rejected + rejected });
  }

  /** The verdicts of a batch; what refuses all of it is counted where it is answered. */
  addVerdicts(organizationId: OrganizationId, verdicts: readonly Verdict[], isAtomic: boolean): void {
    const rejected = verdicts.filter((verdict) => !isAccepted(verdict)).length;
    if (isAtomic && rejected > 0) return;
    const replayed = verdicts.filter((verdict) => typeof verdict === 'object' && 'r' in verdict).length;
    this.add(organizationId, { replayed, rejected });
  }

  async flush(): Promise<void> {
    if (this.#counts.size === 0) return;
    const rows = [...this.#counts].map(([organization_id, counts]) => ({ organization_id, ...counts }));
    this.#counts = new Map();
    await addNotStored(this.#sql, rows, realNow(), this.#lane).catch((error) =>
      this.#log.warn({ err: error }, 'events that were not stored are not counted'),
    );
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
