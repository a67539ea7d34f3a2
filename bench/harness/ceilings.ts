import type { Cost, Counted } from './costs.ts';
import { COUNTED } from './costs.ts';

/**
 * What a unit may cost at most (benchmark.md#costs). Counts do not depend on the machine, so a count above its ceiling
 * fails the run; processor time does, and is only shown beside its goal.
 */
export interface Ceiling extends Record<Counted, number> {
  /** Goal in microseconds of processor time of all processes. */
  cpuUs: number;
}

export const ceilings = {
  'event sent alone': {
    cpuUs: 260,
    statements: 0.3,
    roundTrips: 0.3,
    redisCommands: 4,
    walBytes: 2_200,
    bufferHits: 90,
  },
  'event of a batch': {
    cpuUs: 75,
    statements: 0.03,
    roundTrips: 0.03,
    redisCommands: 0.3,
    walBytes: 2_200,
    bufferHits: 70,
  },
  delivery: { cpuUs: 200, statements: 0.1, roundTrips: 0.1, redisCommands: 8, walBytes: 650, bufferHits: 50 },
  'customer made': {
    cpuUs: 5_000,
    statements: 15,
    roundTrips: 12,
    redisCommands: 66,
    // Of it 1.3 kB for the search by any part of a name, whose merges fall into some runs and not into others.
    walBytes: 18_000,
    bufferHits: 300,
  },
  // Of a burst of one organization nine in ten jobs are parked (queues-and-workers.md#waiting-for-a-slot).
  invoice: { cpuUs: 35_000, statements: 28, roundTrips: 20, redisCommands: 100, walBytes: 40_000, bufferHits: 1_500 },
} satisfies Record<string, Ceiling>;

export type Unit = keyof typeof ceilings;

/** The counts of a unit that are above their ceiling. */
export const tooMuch = (unit: Unit, cost: Cost): Counted[] =>
  COUNTED.filter((name) => cost[name] > ceilings[unit][name]);
