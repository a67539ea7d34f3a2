import { connectDatabase, type Sql } from '../../platform/db/connect.ts';
import { readReplayed, readStanding } from '../../platform/db/heartbeat.ts';
import { type Position, readPosition } from '../../platform/positions/position.ts';
import { answeredInTime } from '../database-in-time.ts';
import { FairGate, type GateOptions } from '../fair-gate.ts';

/** Longest wait for what a replica says about itself; a slower one is left out. */
export const LOOK_WITHIN_MS = 1000;
/** How often at most a replica is asked up to where it has come. */
const ASK_EVERY_MS = 50;

/** Why a replica is left out. */
export type WhyLeftOut =
  | 'was not looked at yet'
  | 'does not answer'
  | 'is no replica'
  | 'has no heartbeat'
  | 'is behind';

interface ReplicaOptions {
  url: string;
  schema: string;
  connections: number;
  statementTimeoutMs: number;
  mostLagMs: number;
  gate: GateOptions;
}

/** The primary's present, and when it was read on this process's own clock. */
export interface PrimaryTime {
  nowMs: number;
  readAtMs: number;
}

/**
 * One read replica: its connections, up to where it has come, and whether it may be read from. Rule:
 * read-replicas.md#broken-replicas.
 */
export class Replica {
  /** Host, port and database, for people: no password. */
  readonly name: string;
  /** Shares the connections among the statements of reads, with one key for each organization. */
  readonly gate: FairGate;
  readonly #options: ReplicaOptions;
  #sql: Sql;
  /** What is asked about the replica itself never waits behind reads. */
  #watch: Sql;
  #replayed: Position | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<Position | undefined> | undefined;
  #trouble: WhyLeftOut | undefined = 'was not looked at yet';
  /** The primary's clock at the last heartbeat that has come here. */
  #beatenAtMs: number | undefined;
  #primary: PrimaryTime | undefined;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    const { hostname, port, pathname } = new URL(options.url);
    this.name = `${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
    this.gate = new FairGate(options.gate);
    this.#sql = this.#open('ingress replica', options.connections);
    this.#watch = this.#open('ingress replica watch', 1);
  }

  get sql(): Sql {
    return this.#sql;
  }

  #open(name: string, connections: number): Sql {
    const { url, schema, statementTimeoutMs } = this.#options;
    return connectDatabase(url, {
      schema,
      connections,
      name: `meterstone ${name}`,
      statementTimeoutMs,
      // A server that starts again may begin a little before where it was.
      onClose: () => {
        this.#replayed = undefined;
      },
    });
  }

  /** How far the replica is behind, by the primary's clock; undefined before a heartbeat has come. */
  lagMs(): number | undefined {
    if (this.#beatenAtMs === undefined || this.#primary === undefined) return undefined;
    const { nowMs, readAtMs } = this.#primary;
    return Math.max(0, nowMs + performance.now() - readAtMs - this.#beatenAtMs);
  }

  whyLeftOut(): WhyLeftOut | undefined {
    if (this.#trouble !== undefined) return this.#trouble;
    const lag = this.lagMs();
    if (lag === undefined) return 'has no heartbeat';
    return lag > this.#options.mostLagMs ? 'is behind' : undefined;
  }

  /** Leaves the replica out until the next look, after a read on it has failed. */
  suspect(): void {
    this.#trouble = 'does not answer';
  }

  /** Asks the replica how it is. One that does not answer in time loses its connections, and with them its reads. */
  async look(primary: PrimaryTime | undefined): Promise<void> {
    if (primary !== undefined) this.#primary = primary;
    const asked = performance.now();
    try {
      const standing = await answeredInTime(readStanding(this.#watch), LOOK_WITHIN_MS);
      this.#trouble = standing.is_replica ? undefined : 'is no replica';
      this.#beatenAtMs = standing.beaten_at?.epochMilliseconds;
      this.#note(standing.replayed);
    } catch {
      this.#trouble = 'does not answer';
      if (performance.now() - asked >= LOOK_WITHIN_MS) this.#renew();
    }
  }

  /** Whether what was committed up to a position can be read here. */
  async hasReached(position: Position): Promise<boolean> {
    if (this.#isPast(position)) return true;
    const now = performance.now();
    if (this.#asking === undefined) {
      if (now - this.#askedAtMs < ASK_EVERY_MS) return false;
      this.#askedAtMs = now;
      this.#asking = this.#ask().finally(() => {
        this.#asking = undefined;
      });
    }
    await this.#asking;
    return this.#isPast(position);
  }

  #isPast = (position: Position): boolean => this.#replayed !== undefined && this.#replayed >= position;

  async #ask(): Promise<Position | undefined> {
    try {
      this.#note(await answeredInTime(readReplayed(this.#watch), LOOK_WITHIN_MS));
    } catch {
      this.suspect();
    }
    return this.#replayed;
  }

  #note(replayed: string | null): void {
    this.#replayed = replayed === null ? undefined : readPosition(replayed);
  }

  /** A frozen server keeps its connections open, and who waits on them would wait for ever. */
  #renew(): void {
    const former = [this.#sql, this.#watch];
    this.#sql = this.#open('ingress replica', this.#options.connections);
    this.#watch = this.#open('ingress replica watch', 1);
    for (const each of former) void each.end({ timeout: 0 });
  }

  async close(): Promise<void> {
    await Promise.all([this.#sql, this.#watch].map((each) => each.end({ timeout: 1 })));
  }
}
