import type { Config } from '../../platform/config.ts';
import type { Sql } from '../../platform/db/connect.ts';
import { beat } from '../../platform/db/heartbeat.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import { type Position, positionText, readPosition } from '../../platform/positions/position.ts';
import type { Positions } from '../../platform/positions/positions.ts';
import { answeredInTime } from '../database-in-time.ts';
import type { GateOptions } from '../fair-gate.ts';
import { LOOK_WITHIN_MS, type PrimaryTime, Replica, type WhyLeftOut } from './replica.ts';

const LOOK_EVERY_MS = 1000;
/** Characters of an organization's id that choose its replica: the end of an id is random. */
const ID_DIGITS = 8;

/** A replica as `/ready` shows it. */
interface ShownReplica {
  replica: string;
  is_read_from: boolean;
  lag_seconds: number | null;
  reason: WhyLeftOut | null;
}

interface ReplicasDeps {
  /** The primary. */
  sql: Sql;
  positions: Positions;
  config: Pick<Config, 'READ_DATABASE_URL' | 'READ_REPLICA_MAX_LAG_SECONDS' | 'DATABASE_SCHEMA' | 'DATABASE_POOL'>;
  log: Log;
  metrics: Metrics;
}

/**
 * The read replicas of this process. Each second it writes the heartbeat on the primary and looks how old the copy of
 * each replica is. Rule: read-replicas.md.
 */
export class Replicas {
  readonly #deps: ReplicasDeps;
  readonly #replicas: Replica[];
  readonly #timer: NodeJS.Timeout;
  readonly #leftOut = new Map<Replica, WhyLeftOut>();
  #looking: Promise<void> | undefined;
  /** The greatest position of a write that this process has answered. */
  #latest: Position | undefined;

  constructor(deps: ReplicasDeps, options: { statementTimeoutMs: number; gate: GateOptions }) {
    this.#deps = deps;
    const { config } = deps;
    this.#replicas = config.READ_DATABASE_URL.map(
      (url) =>
        new Replica({
          url,
          schema: config.DATABASE_SCHEMA,
          connections: config.DATABASE_POOL,
          mostLagMs: config.READ_REPLICA_MAX_LAG_SECONDS * 1000,
          ...options,
        }),
    );
    this.#timer = setInterval(() => this.#lookOnce(), LOOK_EVERY_MS);
    this.#timer.unref();
    this.#lookOnce();
  }

  #lookOnce(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  async #look(): Promise<void> {
    const primary = await this.#beat();
    await Promise.all(this.#replicas.map((replica) => replica.look(primary)));
    for (const replica of this.#replicas) this.#report(replica);
  }

  async #beat(): Promise<PrimaryTime | undefined> {
    try {
      const now = await answeredInTime(beat(this.#deps.sql), LOOK_WITHIN_MS);
      return { nowMs: now.epochMilliseconds, readAtMs: performance.now() };
    } catch {
      return undefined; // a primary that is away is reported elsewhere; its replicas fall behind the last heartbeat
    }
  }

  #report(replica: Replica): void {
    const { log, metrics } = this.#deps;
    const lag = replica.lagMs();
    if (lag !== undefined) metrics.replicaLagSeconds.set({ replica: replica.name }, lag / 1000);
    const reason = replica.whyLeftOut();
    const former = this.#leftOut.get(replica);
    const facts = { replica: replica.name, lagSeconds: secondsOf(lag) };
    if (reason === undefined) {
      if (this.#leftOut.delete(replica)) log.info(facts, 'a read replica is read from again');
    } else if (reason !== former) {
      this.#leftOut.set(replica, reason);
      log.warn({ ...facts, reason }, 'a read replica is left out: reads go elsewhere until it has caught up');
    }
  }

  /**
   * The replica for a read of an organization: always the same one while it is well, so that no answer is older than
   * the one before. Undefined when the primary has to answer.
   *
   * sent  the position that the caller sent back; a text that is none counts as one that no replica has reached
   */
  async choose(organizationId: OrganizationId, sent?: string | undefined): Promise<Replica | undefined> {
    const replica = this.#inTurnOf(organizationId).find((each) => each.whyLeftOut() === undefined);
    if (replica === undefined) return this.#primaryBecause('none');
    const wanted = sent === undefined ? 0n : readPosition(sent);
    if (wanted === undefined) return this.#primaryBecause('unknown');
    const kept = await this.#deps.positions.of(organizationId).catch(() => undefined);
    if (kept === undefined) return this.#primaryBecause('unknown');
    if (!(await replica.hasReached(wanted > kept ? wanted : kept))) return this.#primaryBecause('behind');
    this.#deps.metrics.replicaReads.inc({ served_by: 'replica', reason: 'reached' });
    return replica;
  }

  #primaryBecause(reason: 'none' | 'unknown' | 'behind' | 'failed'): undefined {
    this.#deps.metrics.replicaReads.inc({ served_by: 'primary', reason });
  }

  #inTurnOf(organizationId: OrganizationId): Replica[] {
    const first = Number.parseInt(organizationId.slice(-ID_DIGITS), 16) % this.#replicas.length;
    return [...this.#replicas.slice(first), ...this.#replicas.slice(0, first)];
  }

  /** A read on a replica has failed and is done again on the primary. */
  failed(replica: Replica, error: unknown, isLost: boolean): void {
    this.#deps.log.info(
      { replica: replica.name, err: (error as Error).message },
      'a read is done again on the primary',
    );
    if (isLost) replica.suspect();
    this.#primaryBecause('failed');
  }

  /** Notes the position of a write of which this process has the answer. */
  note(position: string | undefined): void {
    const read = position === undefined ? undefined : readPosition(position);
    if (read !== undefined && read > (this.#latest ?? 0n)) this.#latest = read;
  }

  /**
   * For the answer of a write: a position that holds it, and what other writes of this process came before. Undefined
   * as long as none is known.
   */
  position(): string | undefined {
    return this.#latest === undefined ? undefined : positionText(this.#latest);
  }

  shown(): ShownReplica[] {
    return this.#replicas.map((replica) => {
      const reason = replica.whyLeftOut() ?? null;
      return { replica: replica.name, is_read_from: reason === null, lag_seconds: secondsOf(replica.lagMs()), reason };
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    await Promise.all(this.#replicas.map((replica) => replica.close()));
  }
}

const secondsOf = (lagMs: number | undefined): number | null => (lagMs === undefined ? null : Math.round(lagMs) / 1000);
