import { LeaseLost, whileHeld } from '../hold-lease.ts';
import type { ObjectState, SourceHost } from '../source.ts';
import { formatOf } from './format.ts';
import { BadObject } from './piece.ts';
import { readObject } from './read-object.ts';
import type { S3Settings } from './settings.ts';
import { type FoundObject, ObjectIsGone, ObjectRefused, type ObjectStore } from './store.ts';

const MOST_BYTES = 5 * 1024 ** 3;
export const MOST_ATTEMPTS = 5;
/** The rank of the letter for an object stands behind that of all its lines. */
const LAST_RANK = '9007199254740991';

/** What became of an object: it has ended, another process reads it, or it is tried again later. */
export type Taken = { is: 'ended' } | { is: 'elsewhere' } | { is: 'waiting'; attempts: number };

/** Reads objects, each in one process at a time. Rule: streams.md#files. */
export class ObjectTaker {
  readonly #settings: S3Settings;
  readonly #host: SourceHost;
  readonly #store: ObjectStore;

  constructor(settings: S3Settings, host: SourceHost, store: ObjectStore) {
    this.#settings = settings;
    this.#host = host;
    this.#store = store;
  }

  /** Empty ones mark folders; those that were moved are read. */
  isWanted({ key, size }: Pick<FoundObject, 'key' | 'size'>): boolean {
    const { prefix, processed_prefix: processed, failed_prefix: failed } = this.#settings;
    if (size === 0 || !key.startsWith(prefix)) return false;
    return ![processed, failed].some((moved) => moved !== undefined && key.startsWith(moved));
  }

  /** Whether nothing of an object is left to do: it was read, and stays where it is. */
  isSettled({ status }: Pick<ObjectState, 'status'>): boolean {
    return status !== 'reading' && this.#targetOf(status) === undefined;
  }

  /** Where an object of a status goes; undefined if it stays. */
  #targetOf(status: ObjectState['status']): string | undefined {
    return status === 'failed' ? this.#settings.failed_prefix : this.#settings.processed_prefix;
  }

  /** Reads an object unless another process does, and moves it when it has ended. */
  async take(object: FoundObject): Promise<Taken> {
    const taken = await whileHeld(this.#host, object.id, async (lost): Promise<Taken> => {
      const found = await this.#host.objects.begin(object);
      if (found.is_waiting) return { is: 'waiting', attempts: found.attempts };
      let { status } = found;
      if (status === 'reading') {
        const read = await this.#read(object, found.attempts, lost);
        if (typeof read !== 'string') return read;
        status = read;
      }
      const target = this.#targetOf(status);
      if (target !== undefined) await this.#store.move(object, target + this.#nameOf(object));
      return { is: 'ended' };
    });
    return taken ?? { is: 'elsewhere' };
  }

  /** What follows the prefix. */
  #nameOf({ key }: FoundObject): string {
    return key.slice(this.#settings.prefix.lastIndexOf('/') + 1);
  }

  /** @returns the status with which the object has ended; or that it is gone, or is tried again */
  async #read(object: FoundObject, attempts: number, lost: AbortSignal): Promise<ObjectState['status'] | Taken> {
    const { objects } = this.#host;
    const end = async (isFailed: boolean) => {
      await this.#demandLease(object);
      return objects.end(object, object.id, isFailed);
    };
    try {
      const format = formatOf(object.key, this.#settings.format);
      if (!format) throw new BadObject('unsupported_format', 'its name ends in no format', { isFinal: true });
      if (object.size > MOST_BYTES)
        throw new BadObject('payload_too_large', 'it is larger than 5 GiB', { isFinal: true });
      await readObject(this.#host, object, format, (offset) => this.#store.open(object, offset), lost);
      return await end(false);
    } catch (error) {
      if (error instanceof ObjectIsGone) {
        await this.#demandLease(object);
        await objects.drop(object, object.id);
        return { is: 'ended' };
      }
      const isBad = error instanceof BadObject;
      if (!isBad && !(error instanceof ObjectRefused)) throw error;
      this.#host.log.warn({ object: object.id, error: error.message }, 'an object cannot be read');
      if (!(isBad && error.isFinal) && attempts + 1 < MOST_ATTEMPTS) {
        await objects.failAttempt(object);
        return { is: 'waiting', attempts: attempts + 1 };
      }
      await this.#putAside(object, isBad ? error.code : 'unsupported_format', error.message, lost);
      return end(true);
    }
  }

  /** The end of an object takes its checkpoint away, which another process that has taken it goes on with. */
  async #demandLease({ id }: FoundObject): Promise<void> {
    if (!(await this.#host.claim(id))) throw new LeaseLost();
  }

  /** The dead letter of an object names it; what stands before its fault is stored. */
  async #putAside(object: FoundObject, code: BadObject['code'], message: string, lost: AbortSignal): Promise<void> {
    const { bucket, key, etag, size, sourceTime, id } = object;
    const [last] = (await this.#host.checkpoints(id)).filter((checkpoint) => checkpoint.key === id);
    const letter = {
      position: key,
      bytes: Buffer.from(JSON.stringify({ bucket, key, etag, size })),
      refused: { code, message: `the object cannot be read: ${message}` },
      sourceTime,
      checkpoint: { key: id, rank: LAST_RANK, value: last?.value ?? {} },
    };
    await this.#host.deliver([letter], lost);
  }
}
