/** One ratio of the harness: what it compares and how far it has to go (benchmark.md#goals). */
export interface Goal {
  what: string;
  floor: number;
  goal: number;
  /** Whether a ratio has to be above or below its floor. */
  better: 'more' | 'less';
  format: 'times' | 'percent' | 'fraction' | 'bytes';
  /** Floor and goal were estimated, never measured: a missed floor is reported and fails nothing. */
  estimated?: true;
}

export const goals = {
  G1: { what: 'full HTTP stack without storage / stock Express + JSON body', floor: 1.5, goal: 2, ...more() },
  G2: { what: 'POST /events stored with verdict / stock Express + JSON body', floor: 0.4, goal: 0.6, ...more() },
  G4: { what: 'POST /events/batch of 100, events / raw COPY of 100', floor: 0.4, goal: 0.6, ...more() },
  G5: { what: 'storage function, batches of 1000, rollup / raw COPY of 1000', floor: 0.5, goal: 0.65, ...more() },
  G6: { what: 'backlog at the end of a saturating run / events accepted', floor: 0.02, goal: 0, ...less('percent') },
  G7: { what: 'p99 at half the ceiling / p50', floor: 15, goal: 6, ...less(), estimated: true },
  G8: { what: 'write-through p50 / direct transaction p50', floor: 4, goal: 2.5, ...less() },
  G9: { what: 'resource create over HTTP p50 / bare insert with commit p50', floor: 25, goal: 12, ...less() },
  G10: { what: 'current usage by buckets / by scan', floor: 1 / 100, goal: 1 / 500, ...less('fraction') },
  G11: { what: 'current usage at the full table / at 100k events', floor: 2, goal: 1.2, ...less(), estimated: true },
  G12: { what: 'webhook deliveries / bare undici.request loop', floor: 0.25, goal: 0.35, ...more() },
  G13: { what: 'drain of coalesced events / of per-event jobs', floor: 6, goal: 10, ...more() },
  G14: { what: 'lease limiter on / off', floor: 0.75, goal: 0.85, ...more() },
  G15: { what: 'Redis memory left per event of a drained run', floor: 64, goal: 16, ...less('bytes') },
  G16: { what: '2 ingress processes / 1', floor: 1.3, goal: 1.7, ...more(), estimated: true },
  G17: { what: 'current usage of 20 charges, p50 / select 1', floor: 10_000, goal: 2_000, ...less(), estimated: true },
  G18: {
    what: 'invoices of a month-end burst / bare statements of as many',
    floor: 0.2,
    goal: 0.4,
    ...more(),
  },
  G19: { what: 'invoice of a window of 20M events / of 20 000', floor: 1.5, goal: 1.2, ...less() },
  G20: { what: 'neighbour p50, 40 writes behind a locked customer / quiet', floor: 2, goal: 1.3, ...less() },
  G21: {
    what: 'neighbour p99, 100 callers on one wallet / quiet',
    floor: 2,
    goal: 1.5,
    ...less(),
    estimated: true,
  },
  G22: { what: 'neighbour p50, any of the attacks / quiet', floor: 4, goal: 2, ...less(), estimated: true },
  G23: { what: 'current usage of 240 000 events / of 2 400', floor: 5, goal: 3, ...less() },
  G24: { what: '100 000 deliveries behind a dead endpoint, of a core', floor: 0.01, goal: 0.003, ...less('percent') },
  G25: {
    what: '100 000 payments compared with a provider, of a minute',
    floor: 1,
    goal: 0.25,
    ...less('percent'),
    estimated: true,
  },
  G26: { what: 'POST /events alone, p50 / bare insert with commit p50', floor: 20, goal: 11.4, ...less() },
  G27: { what: 'POST /customers alone, p50 / bare insert with commit p50', floor: 25, goal: 14.3, ...less() },
  G28: {
    what: 'Kafka to stored rows / storage function alone, batches of 1 000',
    floor: 0.7,
    goal: 0.85,
    ...more(),
    estimated: true,
  },
  B7: { what: 'POST /ai/usage/batch of 100 / POST /events/batch of 100 as wide', floor: 0.7, goal: 0.85, ...more() },
  S1: {
    what: 'storage function with its table of keys / with a unique index of events',
    floor: 0.9,
    goal: 1,
    ...more(),
  },
  S2: { what: 'a batch stored or replayed, 50 000 000 keys / 1 000 000', floor: 1.5, goal: 1.1, ...less() },
  S3: { what: 'write-through p50, with positions for replicas / without', floor: 1.05, goal: 1, ...less() },
  S4: {
    what: 'lists on a replica under write load, p99 / on the primary',
    floor: 1,
    goal: 0.9,
    ...less(),
    estimated: true,
  },
  S5: { what: 'POST /events over a Redis Cluster of 3 / over one Redis', floor: 0.8, goal: 0.95, ...more() },
  S6: { what: 'POST /events, two cells on one server / one cell', floor: 0.95, goal: 1, ...more() },
  S8: { what: 'POST /events of the one cell of a directory / without cells', floor: 0.95, goal: 1, ...more() },
  S7: { what: 'items a second of a tick, 1 000 000 customers due / 10 000', floor: 0.9, goal: 1, ...more() },
  S9: {
    what: 'events of one row of sums / of 1 000 subscriptions, four callers',
    floor: 0.8,
    goal: 1,
    ...more(),
    estimated: true,
  },
} satisfies Record<string, Goal>;

export type GoalId = keyof typeof goals;
export type Status = 'ok' | 'goal' | 'below floor' | 'noisy' | 'skipped';

/** How a measured ratio compares with its goal; a noisy one never fails the run. */
export function judge(goal: Goal, ratio: number, isNoisy: boolean): Status {
  const reaches = (mark: number) => (goal.better === 'more' ? ratio >= mark : ratio <= mark);
  if (reaches(goal.goal)) return 'goal';
  if (isNoisy) return 'noisy';
  return reaches(goal.floor) ? 'ok' : 'below floor';
}

export function formatRatio(goal: Goal, ratio: number): string {
  switch (goal.format) {
    case 'percent':
      return `${(ratio * 100).toFixed(2)} %`;
    case 'bytes':
      return `${ratio.toFixed(1)} B`;
    case 'fraction':
      return `1/${(1 / ratio).toFixed(0)}`;
    default:
      return ratio.toFixed(2);
  }
}

function more() {
  return { better: 'more', format: 'times' } as const;
}

function less<const Format extends Goal['format'] = 'times'>(format?: Format) {
  return { better: 'less', format: (format ?? 'times') as Format } as const;
}
