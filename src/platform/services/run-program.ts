import { spawn } from 'node:child_process';

/** The user that a program runs as; empty = as this process. */
export interface Identity {
  uid?: number;
  gid?: number;
}

export interface ProgramResult {
  /** Exit code; null if it was killed or could not be started. */
  code: number | null;
  stdout: string;
  /** Standard error, or why the program could not be started. */
  stderr: string;
}

interface RunOptions {
  identity?: Identity;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

/** Runs a program to its end without a shell and without input. Never throws: a missing program has code null. */
export function runProgram(program: string, args: string[], options: RunOptions = {}): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      ...options.identity,
      // The own working directory may be closed to the other user.
      cwd: options.cwd ?? '/',
      env: options.env ?? serverEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.once('error', (error) => resolve({ code: null, stdout, stderr: error.message }));
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Like runProgram, but an exit code other than 0 is an Error that holds the last lines of the program's output. */
export async function mustRun(program: string, args: string[], options: RunOptions = {}): Promise<ProgramResult> {
  const result = await runProgram(program, args, options);
  if (result.code === 0) return result;
  const output = `${result.stdout}\n${result.stderr}`.trim().split('\n').slice(-12).join('\n');
  throw new Error(`"${program} ${args.join(' ')}" failed (${result.code ?? 'not started or killed'}):\n${output}`);
}

/** Environment of servers and their tools, without settings of the caller (PG…, LC_…). */
export function serverEnvironment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', ...extra };
}

/** The caller's proxy settings, for programs that download something. */
export function proxySettings(): NodeJS.ProcessEnv {
  const names = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];
  return Object.fromEntries(names.filter((name) => process.env[name]).map((name) => [name, process.env[name]]));
}

/** Whether this process is root. */
export const isRoot = (): boolean => process.getuid?.() === 0;
