import type { Context } from '../../platform/context.ts';
import { stepHandlers } from '../../step-handlers.ts';
import { type StepSpec, steps } from '../../steps.ts';

/** A row of the table of steps with its handler, which gets the parsed payload. */
export interface RunnableStep extends StepSpec {
  run(ctx: Context, payload: never): Promise<void>;
}

/** The steps that a worker can run, by name. */
export type StepRegistry = ReadonlyMap<string, RunnableStep>;

/**
 * The steps of this service, each with its handler.
 *
 * @throws Error naming every row without a handler and every handler without a row: the process must not start
 */
export function stepRegistry(
  specs: Readonly<Record<string, StepSpec>> = steps,
  handlers: Readonly<Record<string, RunnableStep['run']>> = stepHandlers,
): StepRegistry {
  const problems = [
    ...Object.keys(specs).flatMap((name) => (handlers[name] ? [] : [`${name} has no handler`])),
    ...Object.keys(handlers).flatMap((name) => (specs[name] ? [] : [`${name} has a handler and no row`])),
  ];
  if (problems.length > 0) throw new Error(`the table of after-steps does not fit: ${problems.join('; ')}`);
  return new Map(Object.entries(specs).map(([name, spec]) => [name, { ...spec, run: handlers[name]! }]));
}
