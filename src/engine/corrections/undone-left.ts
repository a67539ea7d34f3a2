import { type Cents, cents } from '../money/cents.ts';

/** What a correction has done about an item: settled by documents or netting, and left by its policy. */
export interface Done {
  settledCents: number;
  leftCents: number;
  /** The event that it amended; null of a settlement of late events. */
  eventId: string | null;
  /** The settlement of late events that it is, or that the event was among. */
  lateId: string | null;
}

/** Part of a difference that later corrections of the same events have not undone. */
interface Standing extends Pick<Done, 'eventId' | 'lateId'> {
  kind: 'settled' | 'left';
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
 * @param history what they did, oldest first; of several events, what one undid of its own stays apart
 * @returns of the same sign as the difference, or 0
 * Rule: event-corrections.md#what-is-left.
 */
export function undoneLeft(history: readonly Done[], deltaCents: number): Cents {
  const standing: Standing[] = [];
  for (const { settledCents, leftCents, ...of } of history) {
    record(standing, { ...of, kind: 'settled', cents: settledCents });
    record(standing, { ...of, kind: 'left', cents: leftCents });
  }
  let [open, undone] = [deltaCents, 0];
  for (const each of standing.reverse()) {
    const taken = opposed(open, each.cents);
    open -= taken;
    if (each.kind === 'left') undone += taken;
  }
  return cents(undone);
}

/** What was done later takes back what was done about the same event in the same way, newest first; the rest stands. */
function record(standing: Standing[], added: Standing): void {
  let rest = added.cents;
  for (const each of [...standing].reverse()) {
    if (each.kind !== added.kind || !isOfSameEvent(each, added)) continue;
    const taken = opposed(rest, each.cents);
    rest -= taken;
    each.cents += taken;
  }
  if (rest !== 0) standing.push({ ...added, cents: rest });
}

const isOfSameEvent = (earlier: Standing, later: Standing): boolean =>
  earlier.eventId === null ? earlier.lateId === later.lateId : earlier.eventId === later.eventId;

/** How far `change` takes `standing` back: with the sign of the change. */
const opposed = (change: number, standing: number): number =>
  Math.sign(change) === -Math.sign(standing) ? Math.sign(change) * Math.min(Math.abs(change), Math.abs(standing)) : 0;
