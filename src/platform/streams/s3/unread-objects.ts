import type { SourceHost } from '../source.ts';
import type { FoundObject } from './store.ts';

type Known = Pick<FoundObject, 'id' | 'sourceTime'>;

/** Objects that this process knows of and has not read to their end: how far it is behind. */
export class UnreadObjects {
  readonly #writtenAt = new Map<string, number>();

  /** What a listing has found takes the place of what was known before. */
  listed(objects: readonly Known[]): void {
    this.#writtenAt.clear();
    for (const object of objects) this.add(object);
  }

  add({ id, sourceTime }: Known): void {
    this.#writtenAt.set(id, Date.parse(sourceTime));
  }

  /** It was read, or another process reads it. */
  remove({ id }: Known): void {
    this.#writtenAt.delete(id);
  }

  /** Age of the oldest in seconds; 0 when there is none. */
  age({ now }: Pick<SourceHost, 'now'>): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const writtenAt of this.#writtenAt.values()) oldest = Math.min(oldest, writtenAt);
    return oldest === Number.POSITIVE_INFINITY ? 0 : Math.max(0, (now().epochMilliseconds - oldest) / 1000);
  }
}
