/** A hold of budgets around one call. The first call within it settles it; what is never settled is released. */
export class Hold {
  readonly key: string;
  /** What was held, where a broken stream says nothing. */
  readonly amount: string | undefined;
  #isTaken = false;

  constructor(key: string, amount: string | undefined) {
    this.key = key;
    this.amount = amount;
  }

  /** Whether a call has it, which settles it at its end. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** The hold for a call that begins; undefined if another one has it. */
  take(): this | undefined {
    if (this.#isTaken) return undefined;
    this.#isTaken = true;
    return this;
  }

  /** The call used nothing: another one may take it. */
  giveBack(): void {
    this.#isTaken = false;
  }
}
