import type { Temporal } from 'temporal-polyfill';
import type { OrganizationId } from '../ids.ts';
import type { Log } from '../log/log.ts';

/** How far a source was read along one of its parts: a partition, a shard, an object. */
export interface Checkpoint {
  /** The part, for example `calls/0`. */
  key: string;
  /** A decimal number that grows along the part, such as an offset. The stored checkpoint never falls back. */
  rank: string;
  /** What the source needs to go on behind the message. */
  value: Record<string, unknown>;
}

/** A checkpoint as it is kept, with what became of the events of its part. */
export interface StoredCheckpoint extends Checkpoint {
  stored: number;
  replayed: number;
  /** Dead letters. */
  dead: number;
}

/** A message of a stream, or a line of a file. */
export interface StreamMessage {
  /** Where it lies, unique within the connector, for people: `calls/0/4711`. */
  position: string;
  /** Null: nothing is to be stored, and only the checkpoint moves on. */
  bytes: Uint8Array | null;
  /** Time of the message at its source, ISO text in UTC with microseconds. */
  sourceTime: string;
  /** It is no message, and is not counted: only the checkpoint moves on. */
  isMark?: true;
  /** Why its source knows already that it cannot become an event: it is put aside, unread. */
  refused?: {
    code: 'invalid_event' | 'invalid_json' | 'payload_too_large' | 'unsupported_format';
    message: string;
  };
  /** By name in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Where reading goes on once this message and all before it on the same key are stored. */
  checkpoint: Checkpoint;
}

/** How far a process is behind what its source holds; null where the source does not say. */
export interface Lag {
  messages: number | null;
  /** Age of the oldest message that is not stored; 0 when there is none. */
  seconds: number | null;
}

/** A message that was put aside, as a source may hand it on. */
export interface PutAside {
  message: StreamMessage;
  /** Code and text of each of its dead letters. */
  reasons: readonly { code: string; message: string }[];
}

/** What became of delivered messages. */
export interface Delivered {
  /** Messages with at least one dead letter. */
  putAside: readonly PutAside[];
}

/** A file that is read once; one that was rewritten is another. */
export interface ObjectName {
  bucket: string;
  key: string;
  etag: string;
}

/** What is known of a file that was seen before. */
export interface ObjectState extends ObjectName {
  status: 'reading' | 'done' | 'done_with_errors' | 'failed';
  /** Attempts that failed. */
  attempts: number;
  /** Whether it failed so lately that it is not tried yet. */
  is_waiting: boolean;
}

/** What became of the files of a bucket. Counts and places are kept as checkpoints until a file is ended. */
export interface ObjectLedger {
  /** Of files with these keys. */
  states(bucket: string, keys: readonly string[]): Promise<ObjectState[]>;
  /** Files that were begun, have not ended and are held by no process, the oldest first; at most so many. */
  left(bucket: string, most: number): Promise<ObjectName[]>;
  /**
   * Files that have ended and that nobody has looked for lately, at most so many; each is returned again a month later.
   */
  ended(bucket: string, most: number): Promise<ObjectName[]>;
  /** Forgets what became of a file that has ended. One that is there again later is read again. */
  forget(object: ObjectName): Promise<void>;
  /** Enters a file that is read now, or returns what became of it. */
  begin(object: ObjectName & { size: number }): Promise<ObjectState>;
  /** Counts an attempt that failed: the next one waits a minute, doubled each time. */
  failAttempt(object: ObjectName): Promise<void>;
  /**
   * Ends a file, and adds the counts of its checkpoint to those of all files.
   *
   * @returns its status: done with errors, when something of it was put aside
   */
  end(object: ObjectName, checkpoint: string, isFailed: boolean): Promise<ObjectState['status']>;
  /** Forgets a file that is no longer there, but not its counts. */
  drop(object: ObjectName, checkpoint: string): Promise<void>;
}

/** What a source gets from whoever runs it. */
export interface SourceHost {
  organizationId: OrganizationId;
  /** Code of the connector. */
  connector: string;
  /** Aborted when reading has to end: the process stops, or somebody pauses the connector. */
  signal: AbortSignal;
  log: Log;
  /**
   * Stores the events of messages with their dead letters and checkpoints in one transaction, or in several, each of
   * which holds the messages before the next one's. Messages of a key come in their order. Calls that wait are stored
   * together. While the database is away it waits, as long as it takes.
   *
   * @returns after the commit of all of them
   * @throws the reason of `until` or of the host's signal, when it aborts before they are stored; those in a
   *   transaction may be stored nevertheless
   */
  deliver(messages: readonly StreamMessage[], until?: AbortSignal): Promise<Delivered>;
  /** Resolves while fewer messages wait to be stored than a source may read ahead (back-pressure). */
  room(): Promise<void>;
  // What follows up to `objects` is kept in the database, and throws ServiceTrouble.
  /** Stored checkpoints whose key begins with a text. */
  checkpoints(prefix: string): Promise<StoredCheckpoint[]>;
  /** Forgets a checkpoint, because its part was made anew at the source. */
  forget(key: string): Promise<void>;
  /** Forgets the checkpoint of a part that the source no longer has, but not its counts. */
  drop(key: string): Promise<void>;
  /** Takes a part for this process for 30 s, or keeps it; false while another process holds it. */
  claim(key: string): Promise<boolean>;
  /** The same for as many of the parts as this process may have. @returns those that it has now */
  claimSome(keys: readonly string[], most: number): Promise<string[]>;
  release(key: string): Promise<void>;
  /** How many processes read this connector, with this one. */
  readers(): Promise<number>;
  objects: ObjectLedger;
  /** The source answers again, and reading goes on. */
  isReading(): void;
  lag(of: () => Lag | Promise<Lag>): void;
  now(): Temporal.Instant;
}

/** A place from which messages are read. */
export interface StreamSource {
  /**
   * Reads until the signal is aborted, then resolves with nothing left open. It is run again, after a pause, when it
   * throws.
   *
   * @throws SourceTrouble, or any error: the source is away, or refuses; ServiceTrouble as the host has thrown it
   */
  run(host: SourceHost): Promise<void>;
}

/** What is wrong with a source, in words for an operator and without any secret. */
export class SourceTrouble extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SourceTrouble';
  }
}

/**
 * The service itself could not keep what a source asked it to keep. It says nothing of the source, whatever a library
 * makes of it on its way; so it has no `cause`, which libraries throw instead of it.
 */
export class ServiceTrouble extends Error {
  readonly failure: unknown;

  constructor(failure: unknown) {
    super('the service has trouble of its own');
    this.name = 'ServiceTrouble';
    this.failure = failure;
  }
}
