import { spawn } from 'node:child_process';
import { rm, rmdir } from 'node:fs/promises';

/** A server with throwaway data, and everything of it on disk. */
export interface Throwaway {
  pid: number;
  /** Signal that ends the server at once. */
  signal: NodeJS.Signals;
  paths: string[];
  /** Also deleted, once it is empty. */
  parent: string;
}

/**
 * Ties a throwaway server to this process: when it ends in any way, also by SIGKILL, the server is killed and its
 * paths deleted. A shell holds the other end of a pipe and acts when the pipe closes.
 *
 * @returns a function that lifts the guard, to be called before the server is stopped in the ordinary way
 */
export function guardThrowaway({ pid, signal, paths, parent }: Throwaway): () => void {
  // At most 3 s, because without an init process the server stays a zombie, which looks alive.
  const script = `read _; kill -s "$1" "$2"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do kill -0 "$2" && sleep 0.2; done
    kill -s KILL "$2"; parent="$3"; shift 3; rm -rf "$@"; rmdir "$parent"`;
  const shell = spawn('/bin/sh', ['-c', script, 'sh', signal.slice(3), String(pid), parent, ...paths], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // a Ctrl-C in the terminal must not end it before its work
    cwd: '/',
  });
  shell.unref();
  const pipe = shell.stdin as typeof shell.stdin & { unref?: () => void };
  pipe.unref?.();
  pipe.on('error', () => undefined); // the shell was ended first
  return () => void shell.kill('SIGKILL');
}

/** Deletes the remains of a stopped throwaway server. */
export async function deleteThrowaway({ paths, parent }: Throwaway): Promise<void> {
  for (const path of paths) await rm(path, { recursive: true, force: true });
  await rmdir(parent).catch(() => undefined); // the other server's files are still there
}
