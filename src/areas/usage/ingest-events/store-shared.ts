import { isLockTimeout } from '../../../platform/db/refusal-of-database.ts';
import { HELD, type IncomingBatch, type Verdict } from '../events/incoming-event.ts';
import { isDataError } from '../events/storage/data-errors.ts';
import { ownerOf, type StoreDeps, storeEvents } from './store-events.ts';

/** Longest wait of a statement of several organizations for a lock: many times what 1 000 events take. */
const SHARED_PATIENCE_MS = 1000;
/** Longest wait of one organization's part of a failed statement, which must be attributed quickly. */
const OWN_PATIENCE_MS = 250;
/**
 * How many parts run at the same time: as many as a shared statement has connections, and one more for a locked one.
 */
const PARTS_AT_ONCE = 3;

/** Verdicts of a batch, or HELD if it must come again without other organizations. */
export type SharedVerdicts = Verdict[] | typeof HELD;

/**
 * Stores batches of several organizations in shared statements, which many small ones need: apart, each would pay for a
 * statement of its own. If one fails because of a lock or a value that cannot be stored, each organization's batches
 * are stored apart, and those that fail again are held: they cost the others about a second once, and then come in
 * separate jobs. Rule: everywhere.md#bounded-cost.
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
 * Undefined if rows are locked by another transaction or a value cannot be stored. Events stored meanwhile stay stored.
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
    deps.log.warn(
      { ...ownerOf(batches), batches: batches.length, err: (error as Error).message },
      'events hold up those they share with',
    );
    return undefined;
  }
}

function placesByOrganization(batches: readonly IncomingBatch[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [place, { organization_id: id }] of batches.entries()) places.set(id, [...(places.get(id) ?? []), place]);
  return places;
}
