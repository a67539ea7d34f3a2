import type { OrganizationId } from '../../../platform/ids.ts';
import { merged, mergedApart } from '../../../platform/queue/merge-calls.ts';
import type { IncomingBatch } from '../events/incoming-event.ts';

type Batches = readonly IncomingBatch[];

/**
 * How many statements a process runs at the same time, and how many events one holds: more would only wait for each
 * other (storing-events.md#jobs-and-replies).
 */
const MOST_IN_FLIGHT = 2;
const MOST_EVENTS = 1000;
/**
 * How long all properties in one statement may be together: two full jobs of the ingress, about a second of work for
 * all in it.
 */
const MOST_BYTES = 1024 * 1024;
/** How many statements of organizations that are stored apart run at the same time; each organization has one. */
const MOST_APART = 2;

/** Adds the batches of a job to the next statement; resolves with their verdicts after its commit. */
export type StoreMerged<Verdicts> = (batches: Batches) => Promise<Verdicts[]>;

/**
 * Merges jobs that arrive while statements run: waiting jobs go into one statement as soon as a place is free. A job
 * larger than a statement goes alone.
 */
export const createMerger = <Verdicts>(store: StoreMerged<Verdicts>): StoreMerged<Verdicts> =>
  merged(inOneStatement(store), { mostInFlight: MOST_IN_FLIGHT, fitting });

/**
 * Merges the jobs of each organization separately, one statement at a time, so that a slow or locked organization takes
 * no place of the shared statements.
 */
export function createMergersApart<Verdicts>(
  store: StoreMerged<Verdicts>,
): (organizationId: OrganizationId, batches: Batches) => Promise<Verdicts[]> {
  const waiting: (() => void)[] = [];
  let taken = 0;

  async function inPlace(batches: Batches): Promise<Verdicts[]> {
    if (taken < MOST_APART) taken += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await store(batches);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else taken -= 1;
    }
  }

  const apart = mergedApart(inOneStatement(inPlace), { fitting });
  return (organizationId, batches) => apart.call(organizationId, batches);
}

/** Stores the batches of all jobs together; each job has the verdicts of its own. */
const inOneStatement =
  <Verdicts>(store: StoreMerged<Verdicts>) =>
  async (jobs: readonly Batches[]): Promise<Verdicts[][]> => {
    const verdicts = await store(jobs.flat());
    let position = 0;
    return jobs.map(({ length }) => {
      position += length;
      return verdicts.slice(position - length, position);
    });
  };

/** Jobs that fit into one statement, oldest first; the first one always does. */
function fitting(jobs: readonly Batches[]): number {
  let [events, bytes, count] = [0, 0, 0];
  for (const job of jobs) {
    const size = sizeOf(job);
    events += size.events;
    bytes += size.bytes;
    if (count > 0 && (events > MOST_EVENTS || bytes > MOST_BYTES)) break;
    count += 1;
  }
  return count;
}

function sizeOf(batches: Batches): { events: number; bytes: number } {
  let [events, bytes] = [0, 0];
  for (const batch of batches) {
    events += batch.events.length;
    for (const { properties } of batch.events) bytes += properties.length;
  }
  return { events, bytes };
}
