/** Moves that a state machine allows: from each state to the states listed. A state without moves is final. */
export type Moves<State extends string> = Readonly<Record<State, readonly State[]>>;

/** Question "may it move from `from` to `to`?" over a table of moves. Staying where one is is no move. */
export const moveChecker =
  <State extends string>(moves: Moves<State>) =>
  (from: State, to: State): boolean =>
    moves[from].includes(to);
