/** What the work for an answer is told when nobody wants it any more; an AbortSignal is one. */
export interface Ended {
  readonly aborted: boolean;
  addEventListener(name: 'abort', listener: () => void, options?: { once: true }): void;
  removeEventListener(name: 'abort', listener: () => void): void;
}

/**
 * The end of one request. Every request has one and few look at it, and an AbortController makes an event, an error
 * with its stack and a target for each: measured, a seventh of what the door does for a small request.
 */
export class Ending implements Ended {
  #aborted = false;
  #listeners: Set<() => void> | undefined;

  get aborted(): boolean {
    return this.#aborted;
  }

  /** The listener is called once; never, if the end has passed. */
  addEventListener(_name: 'abort', listener: () => void): void {
    if (this.#aborted) return;
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
  }

  removeEventListener(_name: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener);
  }

  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners) for (const listener of listeners) listener();
  }
}
