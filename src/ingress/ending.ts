/** What the work for an answer is told when nobody wants it any more; an AbortSignal is one. */
export interface Ended {
  readonly aborted: boolean;
  addEventListener(name: 'abort', listener: () => void, options?: { once: true }): void;
  removeEventListener(name: 'abort', listener: () => void): void;
}

/** The part of a response that tells its end: it was sent, or its caller is gone. */
interface Closing {
  readonly closed: boolean;
  once(name: 'close', listener: () => void): unknown;
}

/**
 * The end of one request, which comes with that of its response if it has one. Every request has one and few look at
 * it, so it looks at the response when it is looked at: an AbortController makes an event, an error with its stack and
 * a target for each, measured as a seventh of what the door does for a small request, and a listener on every response
 * was half of that again.
 */
export class Ending implements Ended {
  readonly #response: Closing | undefined;
  #aborted = false;
  #listeners: Set<() => void> | undefined;

  constructor(response?: Closing) {
    this.#response = response;
  }

  get aborted(): boolean {
    return this.#aborted || this.#response?.closed === true;
  }

  /** The listener is called once; never, if the end has passed. */
  addEventListener(_name: 'abort', listener: () => void): void {
    if (this.aborted) return;
    if (this.#listeners === undefined) {
      this.#listeners = new Set();
      this.#response?.once('close', () => this.abort());
    }
    this.#listeners.add(listener);
  }

  removeEventListener(_name: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener);
  }

  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) listener();
  }
}
