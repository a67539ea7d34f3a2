import { type Cents, cents } from '../money/cents.ts';

/** What a correction has done about an item: settled by documents or netting, and left by its policy. */
export interface Done {
  settledCents: number;
  leftCents: number;
}

/** Part of a difference that later corrections of the same events have not undone. */
interface Standing {
  kind: keyof Done;
  cents: number;
}

/**
 * The part of a difference that undoes what corrections of the same events left. A difference undoes what they did
 * against it, newest first, and of each what it left before what it settled: what was billed is given back, what was
 * left unbilled is not, and the other way round.
 *
 *   +10 left, then −15 → −10 is no longer left, and −5 is given back
 *   +10 left, +10 billed, then −10 → the ten billed are given back, 0;  then −15 → −10, −5 is given back
 *
 * @param history what they did, oldest first
 * @returns of the same sign as the difference, or 0
 * Rule: event-corrections.md#what-is-left.
 */
export function undoneLeft(history: readonly Done[], deltaCents: number): Cents {
  const standing: Standing[] = [];
  for (const { settledCents, leftCents } of history) {
    record(standing, { kind: 'settledCents', cents: settledCents });
    record(standing, { kind: 'leftCents', cents: leftCents });
  }
  let [open, undone] = [deltaCents, 0];
  for (const each of standing.reverse()) {
    const taken = opposed(open, each.cents);
    open -= taken;
    if (each.kind === 'leftCents') undone += taken;
  }
  return cents(undone);
}

/** What was done later takes back what was done earlier in the same way, newest first; the rest stands. */
function record(standing: Standing[], { kind, cents: added }: Standing): void {
  let rest = added;
  for (const each of [...standing].reverse()) {
    if (each.kind !== kind) continue;
    const taken = opposed(rest, each.cents);
    rest -= taken;
    each.cents += taken;
  }
  if (rest !== 0) standing.push({ kind, cents: rest });
}

/** How far `change` takes `standing` back: with the sign of the change. */
const opposed = (change: number, standing: number): number =>
  Math.sign(change) === -Math.sign(standing) ? Math.sign(change) * Math.min(Math.abs(change), Math.abs(standing)) : 0;
