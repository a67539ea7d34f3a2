import { realNowMs } from '../platform/clock/real-clock.ts';
import { within } from './answered-within.ts';
import { READINESS_CHECKS, type ReadinessDeps, type Trouble } from './readiness-checks.ts';

/** Asked every second by several load balancers, `/ready` still looks no more often. */
const FRESH_MS = 2000;

export interface Found extends Trouble {
  check: string;
}

/**
 * Looks at every row of the table, at most every two seconds for all who ask, and counts what it finds by check in
 * `meterstone_ready_troubles`.
 */
export function createReadiness(deps: ReadinessDeps, checks = READINESS_CHECKS): () => Promise<Found[]> {
  let latest: { atMs: number; found: Promise<Found[]> } | undefined;
  return () => {
    if (!latest || realNowMs() - latest.atMs > FRESH_MS) latest = { atMs: realNowMs(), found: look(deps, checks) };
    return latest.found;
  };
}

async function look(deps: ReadinessDeps, checks: typeof READINESS_CHECKS): Promise<Found[]> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([check, lookAt]) => {
      const troubles = (await within(lookAt(deps))) ?? [{ reason: 'it could not be looked at' }];
      deps.metrics.readyTroubles.set({ check }, troubles.length);
      return troubles.map((trouble) => ({ check, ...trouble }));
    }),
  );
  return found.flat();
}
