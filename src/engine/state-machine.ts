/** Moves that a state machine allows: from each state to the states listed. A state without moves is final. */
export type Moves<State extends string> = Readonly<Record<State, readonly State[]>>;

/** Returns a function that says whether a table of moves allows `from` to `to`. Staying in a state is not a move. */
export const moveChecker =
  <State extends string>(moves: Moves<State>) =>
  (from: State, to: State): boolean =>
    moves[from].includes(to);
