/** How many runs go on at the same time: while one ends the next one begins. */
const MOST_IN_FLIGHT = 2;

export interface MergeOptions<Input> {
  /** How many runs go on at the same time; further ones would only wait for each other. */
  mostInFlight?: number;
  /** How many of those that wait, oldest first, fit into one run: at least one. All of them, when absent. */
  fitting?: (waiting: readonly Input[]) => number;
}

/**
 * Merges calls: calls that arrive while `work` runs share the next run, so that an idle process does not wait and a
 * busy one writes seldom. A failing run rejects all of its calls; an output that is a pending promise delays only its
 * own call.
 */
export function merged<Input, Output>(
  work: (inputs: Input[]) => Promise<(Output | Promise<Output>)[]>,
  { mostInFlight = MOST_IN_FLIGHT, fitting }: MergeOptions<Input> = {},
): (input: Input) => Promise<Output> {
  const waiting: { input: Input; resolve(output: Output | Promise<Output>): void; reject(error: unknown): void }[] = [];
  let inFlight = 0;
  let isScheduled = false;

  // Jobs fetched in the same turn of the event loop belong together.
  function schedule(): void {
    if (isScheduled || inFlight >= mostInFlight || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      while (inFlight < mostInFlight && waiting.length > 0) void run();
    });
  }

  async function run(): Promise<void> {
    const calls = waiting.splice(0, fitting ? fitting(waiting.map(({ input }) => input)) : waiting.length);
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

/** Merges the calls of each key for itself, one run of it at a time. */
export interface MergedApart<Input, Output> {
  call(key: string, input: Input): Promise<Output>;
  /** Whether calls of this key are under way. */
  isBusy(key: string): boolean;
}

export function mergedApart<Input, Output>(
  work: (inputs: Input[]) => Promise<Output[]>,
  options: Omit<MergeOptions<Input>, 'mostInFlight'> = {},
): MergedApart<Input, Output> {
  const lanes = new Map<string, { call: (input: Input) => Promise<Output>; calls: number }>();
  return {
    async call(key, input) {
      const lane = lanes.get(key) ?? { call: merged(work, { ...options, mostInFlight: 1 }), calls: 0 };
      lanes.set(key, lane);
      lane.calls += 1;
      try {
        return await lane.call(input);
      } finally {
        lane.calls -= 1;
        if (lane.calls === 0) lanes.delete(key);
      }
    },
    isBusy: (key) => lanes.has(key),
  };
}
