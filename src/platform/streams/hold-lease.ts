import { repeat } from './repeat.ts';
import type { SourceHost } from './source.ts';

/** How often a process says that it still works on a part, whose lease is 30 s. */
const RENEW_MS = 10_000;

/** Another process has taken the part. */
export class LeaseLost extends Error {}

/**
 * Does work on a part that only this process does. The work gets a signal that is aborted when another process has
 * taken the part, because this one has not said for 30 s that it still works.
 *
 * @returns undefined when another process has the part, before or meanwhile
 */
export async function whileHeld<Result>(
  { claim, release }: Pick<SourceHost, 'claim' | 'release'>,
  key: string,
  work: (lost: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  if (!(await claim(key))) return undefined;
  const lost = new AbortController();
  const renew = async () => {
    const isHeld = await claim(key).catch(() => true); // the database is away, and the next one asks
    if (!isHeld) lost.abort(new LeaseLost());
  };
  const renewing = repeat(RENEW_MS, renew);
  try {
    return await work(lost.signal);
  } catch (error) {
    if (!lost.signal.aborted && !(error instanceof LeaseLost)) throw error;
    return undefined;
  } finally {
    renewing.stop();
    await renewing.settled(); // it would take the part again
    await release(key).catch(() => {}); // it ends by itself
  }
}
