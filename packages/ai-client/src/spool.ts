import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { appendFile, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lineOf, linesIn } from './lines.ts';

const SEGMENT_BYTES = 1024 * 1024;
/** Time until what was reported is on the disk. */
const FLUSH_MS = 100;
const SEGMENT = /^(\d{10})\.log$/;
const REJECTED = 'rejected.ndjson';

export interface SpoolOptions {
  dir: string;
  maxBytes: number;
  /** Called after something new is on the disk. */
  onFlushed(): void;
  onError(error: unknown): void;
}

/** Records of a segment that are to be sent, with the position behind each. */
export interface Unsent {
  segment: string;
  records: { record: unknown; end: number }[];
}

/**
 * Records that wait on the disk until they are sent, oldest first, in segments of 1 MiB. Whoever adds one does not
 * wait: it is written and synced within 200 ms. A folder belongs to one process.
 */
export class Spool {
  readonly #options: SpoolOptions;
  /** Names of segments in their order, with their bytes. */
  readonly #segments = new Map<string, number>();
  /** How far the oldest segment is sent. */
  #sentTo = 0;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #current: string | undefined;
  #nextNumber = 1;
  #timer: NodeJS.Timeout | undefined;
  /** One piece of work on the files after the other. */
  #working: Promise<unknown> = Promise.resolve();
  torn = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
    mkdirSync(options.dir, { recursive: true });
    for (const name of readdirSync(options.dir).sort()) {
      const number = SEGMENT.exec(name)?.[1];
      if (number === undefined) continue;
      this.#segments.set(name, statSync(join(options.dir, name)).size);
      this.#nextNumber = Number(number) + 1;
    }
  }

  get bytes(): number {
    let bytes = this.#pendingBytes;
    for (const each of this.#segments.values()) bytes += each;
    return bytes;
  }

  get isEmpty(): boolean {
    return this.bytes === 0;
  }

  get isFull(): boolean {
    return this.bytes >= this.#options.maxBytes;
  }

  /** Adds a record; false if there is no room for it. */
  add(record: unknown): boolean {
    const line = lineOf(record);
    if (this.bytes + line.length > this.#options.maxBytes) return false;
    this.#pending.push(line);
    this.#pendingBytes += line.length;
    // Keeps the process alive for a moment, so that one that ends by itself loses nothing.
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
    return true;
  }

  /** Writes what was added, and syncs it. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#alone(async () => {
      const lines = this.#pending;
      if (lines.length === 0) return;
      const bytes = Buffer.concat(lines);
      const name = this.#current ?? this.#newSegment();
      const file = await open(join(this.#options.dir, name), 'a');
      try {
        await file.appendFile(bytes);
        await file.datasync();
      } catch (error) {
        // What a full disk cut off would spoil the line that is written behind it.
        await file.truncate(this.#segments.get(name)!).catch(() => {
          this.#current = undefined;
        });
        throw error;
      } finally {
        await file.close();
      }
      this.#pending = this.#pending.slice(lines.length);
      this.#pendingBytes -= bytes.length;
      const size = this.#segments.get(name)! + bytes.length;
      this.#segments.set(name, size);
      if (size >= SEGMENT_BYTES) this.#current = undefined;
      this.#options.onFlushed();
    }).catch((error) => {
      this.#options.onError(error);
      this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS * 10);
      this.#timer.unref();
    });
  }

  #newSegment(): string {
    const name = `${String(this.#nextNumber).padStart(10, '0')}.log`;
    this.#nextNumber += 1;
    this.#segments.set(name, 0);
    this.#current = name;
    return name;
  }

  /** Unsent records of the oldest segment; undefined if there are none. Segments that are sent are deleted. */
  async oldest(): Promise<Unsent | undefined> {
    for (;;) {
      const [name] = this.#segments.keys();
      if (name === undefined) return undefined;
      const read = await this.#alone(async () => {
        const bytes = await readFile(join(this.#options.dir, name)).catch(() => Buffer.alloc(0));
        const lines = linesIn(bytes, this.#sentTo);
        if (lines.records.length > 0) return lines.records;
        this.torn += lines.torn;
        if (name === this.#current) this.#current = undefined; // the next record begins another one
        this.#segments.delete(name);
        this.#sentTo = 0;
        await rm(join(this.#options.dir, name), { force: true });
        return undefined;
      });
      if (read) return { segment: name, records: read };
    }
  }

  /** Notes that the oldest segment is sent up to a position. */
  sent(end: number): void {
    this.#sentTo = end;
  }

  reject(record: unknown, reason: unknown): Promise<void> {
    const line = `${JSON.stringify({ record, reason })}\n`;
    return this.#alone(() => appendFile(join(this.#options.dir, REJECTED), line));
  }

  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#working.then(work);
    this.#working = result.catch(() => {});
    return result;
  }
}
