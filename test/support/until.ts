/** Waits until `check` answers something truthy, at most `withinMs`; then it fails with the last error or value. */
export async function until<Value>(
  check: () => Promise<Value> | Value,
  withinMs = 45_000,
  everyMs = 25,
): Promise<NonNullable<Value>> {
  const deadline = performance.now() + withinMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await check();
      if (value) return value as NonNullable<Value>;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline)
      throw new Error(
        `condition not met within ${withinMs} ms: ${last instanceof Error ? last.message : JSON.stringify(last)}`,
      );
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
