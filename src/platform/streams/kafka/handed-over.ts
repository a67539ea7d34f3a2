/** How many messages, and bytes of them, may wait to be stored before more of a topic is taken. */
export const AHEAD_MESSAGES = 4000;
export const AHEAD_BYTES = 4 * 1024 * 1024;

/**
 * Messages that were handed over to be stored, and what they take. While Postgres stores them the next ones are fetched
 * and unpacked, up to a bound.
 */
export class HandedOver {
  #messages = 0;
  #bytes = 0;
  readonly #works = new Set<Promise<unknown>>();

  /** Counts messages until their work has ended, however it does. */
  add(work: Promise<unknown>, messages: number, bytes: number): void {
    this.#messages += messages;
    this.#bytes += bytes;
    const ended = work
      .catch(() => {}) // whoever began it meets it
      .then(() => {
        this.#messages -= messages;
        this.#bytes -= bytes;
        this.#works.delete(ended);
      });
    this.#works.add(ended);
  }

  /** Resolves while fewer messages and bytes wait than may. */
  async room(): Promise<void> {
    while (this.#messages >= AHEAD_MESSAGES || this.#bytes >= AHEAD_BYTES) await Promise.race(this.#works);
  }

  /** Resolves when what waits now has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#works);
  }
}
