/** Figures of interleaved rounds: one value a round for the baseline and for each candidate. */
export type Rounds<Name extends string> = Record<'baseline' | Name, number[]> & { isNoisy: boolean };

/** Baseline rounds that differ by more than this share of their median make a section noisy. */
const MOST_DIFFERENCE = 0.25;

/**
 * Measures baseline, candidates, baseline, candidates … so that slow drifts of the machine hit all alike. When the
 * baseline rounds differ too much, everything is measured again and the second result counts
 * (benchmark.md#harness).
 */
export async function interleave<Name extends string>(
  rounds: number,
  measures: Record<'baseline' | Name, () => Promise<number>>,
): Promise<Rounds<Name>> {
  const first = await measureRounds(rounds, measures);
  return first.isNoisy ? measureRounds(rounds, measures) : first;
}

async function measureRounds<Name extends string>(
  rounds: number,
  measures: Record<'baseline' | Name, () => Promise<number>>,
): Promise<Rounds<Name>> {
  const names = Object.keys(measures) as ('baseline' | Name)[];
  const values = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<'baseline' | Name, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) values[name].push(await measures[name]());
  }
  return { ...values, isNoisy: differenceOf(values.baseline) > MOST_DIFFERENCE };
}

/** Ratio of two measures round by round: median, smallest, greatest. */
export interface Ratio {
  median: number;
  least: number;
  greatest: number;
  isNoisy: boolean;
}

export function ratioOf(candidate: number[], baseline: number[], isNoisy: boolean): Ratio {
  return spreadOf(
    candidate.map((value, round) => value / baseline[round]!),
    isNoisy,
  );
}

export function spreadOf(values: number[], isNoisy = false): Ratio {
  return { median: median(values), least: Math.min(...values), greatest: Math.max(...values), isNoisy };
}

export const median = (values: number[]): number => percentile(values, 0.5);

/** Value below which the given share of the values lies, by nearest rank. */
export function percentile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

const differenceOf = (values: number[]): number => (Math.max(...values) - Math.min(...values)) / median(values);
