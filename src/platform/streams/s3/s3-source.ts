import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectState, SourceHost, StreamSource } from '../source.ts';
import { formatOf } from './format.ts';
import { BadObject } from './piece.ts';
import { readObject } from './read-object.ts';
import type { S3Settings } from './settings.ts';
import { type FoundObject, ObjectIsGone, ObjectRefused, type ObjectStore, openStore } from './store.ts';

const MOST_BYTES = 5 * 1024 ** 3;
const MOST_ATTEMPTS = 5;
/** How often a process says that it still reads an object. */
const RENEW_MS = 10_000;
/** The rank of the letter for an object stands behind that of all its lines. */
const LAST_RANK = '9007199254740991';

/**
 * The files of a bucket below a prefix: listed again and again, each read once, one at a time; any number of processes
 * share them.
 *
 * Rules: streams.md#s3, streams.md#files.
 */
export const openS3 = (settings: S3Settings): StreamSource => ({
  async run(host) {
    try {
      await read(settings, host);
    } catch (error) {
      if (!host.signal.aborted) throw error;
    }
  },
});

async function read(settings: S3Settings, host: SourceHost): Promise<void> {
  const store = await openStore(settings, host.signal);
  const reading = new Reading(settings, host, store);
  try {
    while (!host.signal.aborted) {
      await reading.pass();
      await pause(settings.poll_seconds * 1000, undefined, { signal: host.signal }).catch(() => {}); // it ends
    }
  } finally {
    store.close();
  }
}

class Reading {
  readonly #settings: S3Settings;
  readonly #host: SourceHost;
  readonly #store: ObjectStore;
  /** When the object that is read was written. */
  #readingFrom: number | undefined;

  constructor(settings: S3Settings, host: SourceHost, store: ObjectStore) {
    this.#settings = settings;
    this.#host = host;
    this.#store = store;
    host.lag(() => ({
      messages: null,
      seconds: this.#readingFrom === undefined ? 0 : (host.now().epochMilliseconds - this.#readingFrom) / 1000,
    }));
  }

  /** Looks once at every object. */
  async pass(): Promise<void> {
    const { signal, objects, isReading } = this.#host;
    for await (const page of this.#store.pages()) {
      isReading();
      const found = page.filter((object) => this.#isWanted(object));
      if (found.length === 0) continue;
      const states = await objects.states(
        this.#settings.bucket,
        found.map(({ key }) => key),
      );
      const known = new Map(states.map((state) => [`${state.key}#${state.etag}`, state]));
      for (const object of found) {
        if (signal.aborted) return;
        const state = known.get(`${object.key}#${object.etag}`);
        if (this.#isLeftAlone(state)) continue;
        await this.#take(object);
      }
    }
    this.#readingFrom = undefined;
  }

  /** Empty ones mark folders; those that were moved are read. */
  #isWanted({ key, size }: FoundObject): boolean {
    const { processed_prefix: processed, failed_prefix: failed } = this.#settings;
    return size > 0 && ![processed, failed].some((prefix) => prefix !== undefined && key.startsWith(prefix));
  }

  #isLeftAlone(state: ObjectState | undefined): boolean {
    if (!state) return false;
    return state.is_waiting || (state.status !== 'reading' && this.#targetOf(state.status) === undefined);
  }

  /** Where an object of a status goes; undefined if it stays. */
  #targetOf(status: ObjectState['status']): string | undefined {
    return status === 'failed' ? this.#settings.failed_prefix : this.#settings.processed_prefix;
  }

  /** Reads an object unless another process does, and moves it when it has ended. */
  async #take(object: FoundObject): Promise<void> {
    const { claim, release, objects } = this.#host;
    if (!(await claim(object.id))) return;
    const renewing = setInterval(() => void claim(object.id).catch(() => {}), RENEW_MS); // the next one does
    try {
      let { status, is_waiting: isWaiting, attempts } = await objects.begin(object);
      if (isWaiting) return;
      if (status === 'reading') {
        const read = await this.#read(object, attempts);
        if (read === undefined) return;
        status = read;
      }
      const target = this.#targetOf(status);
      if (target !== undefined) await this.#store.move(object, target + this.#nameOf(object));
    } finally {
      clearInterval(renewing);
      await release(object.id).catch(() => {}); // it ends by itself
    }
  }

  /** What follows the prefix. */
  #nameOf({ key }: FoundObject): string {
    return key.slice(this.#settings.prefix.lastIndexOf('/') + 1);
  }

  /** @returns what became of the object; undefined if it is to be tried again, or is gone */
  async #read(object: FoundObject, attempts: number): Promise<ObjectState['status'] | undefined> {
    const { objects } = this.#host;
    this.#readingFrom = Date.parse(object.sourceTime);
    try {
      const format = formatOf(object.key, this.#settings.format);
      if (!format) throw new BadObject('unsupported_format', 'its name ends in no format', { isFinal: true });
      if (object.size > MOST_BYTES)
        throw new BadObject('payload_too_large', 'it is larger than 5 GiB', { isFinal: true });
      await readObject(this.#host, object, format, (offset) => this.#store.open(object, offset));
      return await objects.end(object, object.id, false);
    } catch (error) {
      if (error instanceof ObjectIsGone) {
        await objects.drop(object, object.id);
        return undefined;
      }
      const isBad = error instanceof BadObject;
      if (!isBad && !(error instanceof ObjectRefused)) throw error;
      this.#host.log.warn({ object: object.id, error: error.message }, 'an object cannot be read');
      if (!(isBad && error.isFinal) && attempts + 1 < MOST_ATTEMPTS) {
        await objects.failAttempt(object);
        return undefined;
      }
      await this.#putAside(object, isBad ? error.code : 'unsupported_format', error.message);
      return objects.end(object, object.id, true);
    }
  }

  /** The dead letter of an object names it; what stands before its fault is stored. */
  async #putAside(object: FoundObject, code: BadObject['code'], message: string): Promise<void> {
    const { bucket, key, etag, size, sourceTime, id } = object;
    const [last] = (await this.#host.checkpoints(id)).filter((checkpoint) => checkpoint.key === id);
    await this.#host.deliver([
      {
        position: key,
        bytes: Buffer.from(JSON.stringify({ bucket, key, etag, size })),
        refused: { code, message: `the object cannot be read: ${message}` },
        sourceTime,
        checkpoint: { key: id, rank: LAST_RANK, value: last?.value ?? {} },
      },
    ]);
  }
}
