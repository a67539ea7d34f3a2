import { runProgram } from '../harness/processes.ts';
import type { ClosedLoad, ClosedResult, OpenLoad, OpenResult } from './messages.ts';

/** Closed loop with autocannon, in a process of its own. Any answer but 200 is an error. */
export async function closedLoop(load: ClosedLoad): Promise<ClosedResult> {
  const result = await runProgram<ClosedLoad, ClosedResult>('bench/load/closed-loop-child.js', load);
  mustBeWell(load.url, result.statuses);
  return result;
}

/** Open loop in a process of its own. Any answer but 200 is an error. */
export async function openLoop(load: OpenLoad): Promise<OpenResult> {
  const result = await runProgram<OpenLoad, OpenResult>('bench/load/open-loop-child.js', load);
  mustBeWell(load.url, result.statuses);
  return result;
}

function mustBeWell(url: string, statuses: Record<string, number>): void {
  if (Object.keys(statuses).some((status) => status !== '200'))
    throw new Error(`${url} answered ${JSON.stringify(statuses)}: only 200 may be measured`);
}
