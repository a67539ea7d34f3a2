import type { Redis } from 'ioredis';
import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import type { Log } from '../platform/log/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import type { Turns } from '../platform/turns/turns.ts';
import type { KeyCache } from './authenticate.ts';
import type { CommandLane } from './command-lane.ts';
import type { CustomerKeys } from './customer-keys.ts';
import type { DecisionsLane } from './decisions-lane.ts';
import type { EventsLane } from './events-lane/lane.ts';
import type { FairGate } from './fair-gate.ts';
import type { GatheringLane } from './gathering-lane.ts';
import type { HeavyReads } from './heavy-reads.ts';
import type { KeyUsage } from './key-usage.ts';
import type { PreviewLane } from './preview-lane.ts';
import type { Limiters } from './rate-limit.ts';
import type { Replicas } from './read-replicas/replicas.ts';
import type { Wire } from './translate-prefix.ts';
import type { UncommittedLog } from './uncommitted-log.ts';
import type { HandOver } from './watch-pools.ts';

/** What the door needs; an ingress process has one of each. */
export interface EdgeDeps {
  /** The cell behind this door, which answers of 503 name; undefined where there are no cells. */
  cell: string | undefined;
  sql: Sql;
  /** Fails at once when Redis is away. */
  redis: Redis;
  config: Config;
  log: Log;
  metrics: Metrics;
  keys: KeyCache;
  keyUsage: KeyUsage;
  limiters: Limiters;
  /** Shares the connections among the statements of reads, with one key for each organization. */
  reads: FairGate;
  /** Undefined without READ_DATABASE_URL. */
  replicas: Replicas | undefined;
  /** Admits heavy reads. */
  heavyReads: HeavyReads;
  commands: CommandLane;
  gathered: GatheringLane;
  customerKeys: CustomerKeys;
  previews: PreviewLane;
  /** Shares the processor time of this process among heavy reads. */
  turns: Turns;
  events: EventsLane;
  decisions: DecisionsLane;
  handOver: HandOver;
  uncommitted: UncommittedLog;
  wire: Wire;
}

/** An answer before the wire prefix and the common headers are added. */
export interface Outcome {
  status: number;
  text: string;
  headers?: Record<string, string>;
  contentType?: string;
  /** Instead of the text. */
  stream?: AsyncIterable<string>;
  /** Instead of the text: a file. */
  bytes?: AsyncIterable<Uint8Array>;
}
