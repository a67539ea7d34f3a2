import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Whether the process exists. A zombie, which stays in a container without an init process, counts as gone. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return statFields(pid)?.[0] !== 'Z';
}

/**
 * A text that differs between two processes which had the same pid one after the other:
 * the start time as the system shows it. Undefined when the process is gone.
 */
export function birthOf(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  return statFields(pid)?.[19] ?? psColumn(pid, 'lstart');
}

/** The command line of a process, arguments separated by spaces; empty when it cannot be read. */
export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return psColumn(pid, 'command') ?? '';
  }
}

/**
 * Sends each signal in turn until the process is gone, waiting the given time after each. It also works for processes
 * that are not children.
 *
 * @returns whether it is gone
 */
export async function endProcess(pid: number, steps: { signal: NodeJS.Signals; waitMs: number }[]): Promise<boolean> {
  for (const { signal, waitMs } of steps) {
    if (!isAlive(pid)) return true;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    if (await waitUntil(() => !isAlive(pid), waitMs)) return true;
  }
  return !isAlive(pid);
}

/** Checks every 20 ms until the condition holds; false when the time is over. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  intervalMs = 20,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() >= deadline) return false;
    await pause(intervalMs);
  }
  return true;
}

/** Fields of /proc/<pid>/stat from the state on; undefined if there is no such file. */
function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name is in brackets and may itself contain spaces and brackets.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function psColumn(pid: number, column: string): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.trim() || undefined;
  } catch {
    return undefined;
  }
}
