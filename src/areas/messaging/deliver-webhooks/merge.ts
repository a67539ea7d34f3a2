/** Statements at once: with a single one, a statement that waits for a lock would hold up all. */
const MOST_IN_FLIGHT = 2;

/**
 * Merges calls: what arrives while `work` is under way is done together by the next run, so that an idle process waits
 * for nothing and a busy one writes seldom. A run that fails fails for all of its calls.
 */
export function merged<Input, Output>(work: (inputs: Input[]) => Promise<Output[]>): (input: Input) => Promise<Output> {
  const waiting: { input: Input; resolve(output: Output): void; reject(error: unknown): void }[] = [];
  let inFlight = 0;
  let isScheduled = false;

  // Jobs fetched in the same turn of the event loop belong together.
  function schedule(): void {
    if (isScheduled || inFlight >= MOST_IN_FLIGHT || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void run();
    });
  }

  async function run(): Promise<void> {
    const calls = waiting.splice(0);
    inFlight += 1;
    try {
      const outputs = await work(calls.map((call) => call.input));
      for (const [index, call] of calls.entries()) call.resolve(outputs[index]!);
    } catch (error) {
      for (const call of calls) call.reject(error);
    } finally {
      inFlight -= 1;
      schedule();
    }
  }

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      schedule();
    });
}
