/** npm passes a Ctrl-C on although the terminal has sent it already, so two within this time are one. */
const SAME_CTRL_C_MS = 1_000;

/**
 * Aborted at the first SIGINT, SIGTERM or SIGHUP. At a second one that a person must have sent, the process ends at
 * once; the next start adopts the servers it leaves.
 */
export function untilSignal(say: (line: string) => void): AbortSignal {
  const controller = new AbortController();
  let firstAt: number | undefined;
  const handle = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      say(`\n${signal}: stopping everything`);
      controller.abort();
    } else if (now - firstAt > SAME_CTRL_C_MS) {
      say('ended at once; the next start cleans up');
      process.exit(130);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, handle);
  return controller.signal;
}
