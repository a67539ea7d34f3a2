import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { request } from 'undici';
import { projectRoot } from '../../src/platform/project-root.ts';
import { until } from '../support/until.ts';

const START_WITHIN_MS = 120_000;

/**
 * Processes as an operator runs them, from the build, under a supervisor that starts again what ends by itself (as pm2,
 * docker and the launcher do); they can be killed one by one.
 */
export class Processes {
  readonly #environment: Record<string, string>;
  readonly #running = new Map<string, ChildProcess>();
  /** Those that were asked to stop for good. */
  readonly #ended = new Set<string>();
  #stopping = false;

  constructor(environment: Record<string, string>) {
    this.#environment = environment;
  }

  /** Starts `ingress` or a pool by name, and waits until it says that it is ready. `events-2` is another one. */
  async start(name: string): Promise<void> {
    this.#ended.delete(name);
    await this.#launch(name);
  }

  async #launch(name: string): Promise<void> {
    const script = name === 'ingress' ? 'dist/src/ingress/server.js' : `dist/workers/${name.replace(/-\d+$/, '')}.js`;
    const child = spawn(process.execPath, ['--enable-source-maps', join(projectRoot(), script)], {
      cwd: projectRoot(),
      env: { ...process.env, ...this.#environment },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#running.set(name, child);
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`${name} ended with ${code} before it was ready`)));
    });
    child.once('exit', () => {
      if (this.#running.get(name) === child) void this.#startAgain(name);
    });
  }

  /** Again and again, since it ends where it starts while a server is away. */
  async #startAgain(name: string): Promise<void> {
    const isUnwanted = () => this.#stopping || this.#ended.has(name);
    await until(() => isUnwanted() || this.#launch(name).then(() => true), START_WITHIN_MS);
  }

  pidOf(name: string): number {
    return this.#running.get(name)!.pid!;
  }

  /** Asks one process to stop, for good. */
  async end(name: string): Promise<void> {
    const child = this.#running.get(name)!;
    this.#ended.add(name);
    this.#running.delete(name);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await gone;
  }

  /** Ends a process without a chance to clean up; the supervisor starts it again. */
  async kill(name: string): Promise<void> {
    const child = this.#running.get(name)!;
    child.kill('SIGKILL');
    await until(() => this.#running.get(name) !== child);
  }

  /** Asks every process to stop; answers the exit codes by name. */
  async stop(): Promise<Record<string, number | null>> {
    this.#stopping = true;
    const codes = await Promise.all(
      [...this.#running].map(async ([name, child]) => {
        if (child.exitCode !== null || child.signalCode !== null) return [name, child.exitCode] as const;
        const gone = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
        child.kill('SIGTERM');
        return [name, await gone] as const;
      }),
    );
    return Object.fromEntries(codes);
  }
}

/** Waits until the service of this address says that every queue moves. */
export const ready = (url: string): Promise<boolean> =>
  until(async () => {
    const answer = await request(`${url}/ready`);
    await answer.body.dump();
    return answer.statusCode === 200;
  }, 60_000);
