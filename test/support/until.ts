/** The first pause between two looks, and the longest. */
const SHORTEST_MS = 10;
const LONGEST_MS = 250;

/**
 * Waits until `check` answers something truthy, at most `withinMs`; then it fails with the last error or value. It is
 * looked every `everyMs`; without that, after a quarter of the time that has passed. Looks are requests: one every
 * 25 ms took a tenth of the processor time of files that wait for the jobs of a provider.
 */
export async function until<Value>(
  check: () => Promise<Value> | Value,
  withinMs = 45_000,
  everyMs?: number,
): Promise<NonNullable<Value>> {
  const startedAt = performance.now();
  let last: unknown;
  for (;;) {
    try {
      const value = await check();
      if (value) return value as NonNullable<Value>;
      last = value;
    } catch (error) {
      last = error;
    }
    const passedMs = performance.now() - startedAt;
    if (passedMs > withinMs)
      throw new Error(
        `condition not met within ${withinMs} ms: ${last instanceof Error ? last.message : JSON.stringify(last)}`,
      );
    const pauseMs = everyMs ?? Math.min(Math.max(passedMs / 4, SHORTEST_MS), LONGEST_MS);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
