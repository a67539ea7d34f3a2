import { isLockTimeout } from '../../../platform/db/refusal-of-database.ts';
import { HELD, type IncomingBatch, type Verdict } from '../events/incoming-event.ts';
import { isDataError } from '../events/storage/data-errors.ts';
import { type StoreDeps, storeEvents } from './store-events.ts';

/** A statement of several organizations waits no longer for a lock: many times what one of 1 000 events takes. */
const SHARED_PATIENCE_MS = 1000;
/** Nor does an organization's own part of one that failed, which has to say quickly whose fault that was. */
const OWN_PATIENCE_MS = 250;
/** Parts at once: as many as a shared statement has connections, and one more for a locked one among them. */
const PARTS_AT_ONCE = 3;

/** Verdicts of a batch, or that it is to come again without those of other organizations. */
export type SharedVerdicts = Verdict[] | typeof HELD;

/**
 * Stores batches of several organizations in shared statements, which many small ones need: apart, each would pay for a
 * statement of its own. When one fails since a lock was not free or a value cannot be stored, each organization's
 * batches are stored apart, and those that fail again are held: they cost the others about a second once, and then go a
 * way of their own. Rule: everywhere.md#bounded-cost.
 */
export async function storeShared(deps: StoreDeps, batches: readonly IncomingBatch[]): Promise<SharedVerdicts[]> {
  const verdicts = await tryShared(deps, batches, SHARED_PATIENCE_MS);
  if (verdicts) return verdicts;
  const places = placesByOrganization(batches);
  const found: SharedVerdicts[] = batches.map(() => HELD);
  if (places.size === 1) return found;
  const parts = [...places.values()];
  const worker = async () => {
    for (let part = parts.shift(); part; part = parts.shift()) {
      const own = part.map((place) => batches[place]!);
      const answers = await tryShared(deps, own, OWN_PATIENCE_MS);
      for (const [index, place] of part.entries()) if (answers) found[place] = answers[index]!;
    }
  };
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, worker));
  return found;
}

/**
 * Undefined: rows are locked by another transaction, or some value cannot be stored. What was stored meanwhile is
 * stored.
 */
async function tryShared(
  deps: StoreDeps,
  batches: readonly IncomingBatch[],
  patienceMs: number,
): Promise<Verdict[][] | undefined> {
  try {
    return await storeEvents({ ...deps, patienceMs, isShared: true }, batches);
  } catch (error) {
    if (!isLockTimeout(error) && !isDataError(error)) throw error;
    deps.log.warn({ batches: batches.length, err: (error as Error).message }, 'events hold up those they share with');
    return undefined;
  }
}

function placesByOrganization(batches: readonly IncomingBatch[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [place, { organization_id: id }] of batches.entries()) places.set(id, [...(places.get(id) ?? []), place]);
  return places;
}
