/** npm forwards a Ctrl-C that the terminal has sent already, so two within this time count as one. */
const SAME_CTRL_C_MS = 1_000;

/**
 * Aborted at the first SIGINT, SIGTERM or SIGHUP. A second one sent by a person ends the process at once; the next
 * start adopts the servers that it leaves.
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
