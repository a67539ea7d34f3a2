import { assert } from '../../../engine/assert.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { IncomingBatch, Verdict } from '../events/incoming-event.ts';
import { isDataError, unstorable } from '../events/storage/data-errors.ts';
import { attempt, followStored, isStorableBatch, STALE_TRIES, type StoreDeps } from './store-events.ts';

/** Writes what belongs to a batch in its transaction. A failure leaves nothing of both stored. */
export type WriteBeside = (tx: Db, verdicts: readonly Verdict[]) => Promise<unknown>;

/**
 * Stores a batch of events together with what its source writes beside it, in one transaction, by the statements of
 * `storeEvents`: three awaited ones at most with one beside. A value that Postgres refuses is found by halves and
 * refused alone. Then it starts the asynchronous steps.
 *
 * batch  not atomic; it may have no events
 *
 * @returns verdicts in the order of the events
 * Rule: streams.md#storing.
 */
export async function storeBeside(deps: StoreDeps, batch: IncomingBatch, beside: WriteBeside): Promise<Verdict[]> {
  assert(!batch.atomic, 'events of a stream do not wait for each other');
  const refused = new Set<number>();
  for (let tried = 1; ; tried += 1) {
    assert(tried <= STALE_TRIES, 'a catalog that was just read is of the present version');
    const verdicts = await tryBeside(deps, batch, { refused, beside });
    if (verdicts) return verdicts;
  }
}

/** Undefined if it has to be tried again: the catalog was stale, or events were found that cannot be stored. */
async function tryBeside(
  deps: StoreDeps,
  batch: IncomingBatch,
  { refused, beside }: { refused: Set<number>; beside: WriteBeside },
): Promise<Verdict[] | undefined> {
  const part = { ...batch, events: batch.events.filter((_, index) => !refused.has(index)) };
  const whole = (found: readonly Verdict[]): Verdict[] => {
    const left = found.values();
    return batch.events.map((_, index) => (refused.has(index) ? unstorable() : (left.next().value as Verdict)));
  };
  try {
    const outcome = await attempt(deps, [part], true, async (stored, tx) => {
      const [found] = stored.verdicts;
      if (found) await beside(tx, whole(found));
      return stored;
    });
    await followStored(deps, [part], outcome);
    const [found] = outcome.verdicts;
    if (found) return whole(found);
    deps.catalogs.forget([batch.organization_id]);
  } catch (error) {
    if (!isDataError(error)) throw error;
    const culprits = await culpritsIn(
      deps,
      batch,
      [...batch.events.keys()].filter((index) => !refused.has(index)),
    );
    if (culprits.length === 0) throw error; // what stands beside the events is at fault
    for (const index of culprits) refused.add(index);
  }
  return undefined;
}

/** Places of events with a value that Postgres refuses, each found alone. */
async function culpritsIn(deps: StoreDeps, batch: IncomingBatch, places: readonly number[]): Promise<number[]> {
  const part = { ...batch, events: places.map((place) => batch.events[place]!) };
  if (places.length === 0 || (await isStorableBatch(deps, part))) return [];
  if (places.length === 1) return [...places];
  const half = Math.ceil(places.length / 2);
  return [
    ...(await culpritsIn(deps, batch, places.slice(0, half))),
    ...(await culpritsIn(deps, batch, places.slice(half))),
  ];
}
