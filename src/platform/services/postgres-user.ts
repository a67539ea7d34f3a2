import { spawnSync } from 'node:child_process';
import type { Identity } from './run-program.ts';
import { isRoot, runProgram } from './run-program.ts';

/** Postgres refuses to run as root, so as root its programs run as this user, who is created if missing. */
const USER = 'postgres';

/** The owner of new Postgres data: as root `postgres`, else the caller. */
export async function postgresIdentity(log: (line: string) => void): Promise<Identity> {
  if (!isRoot()) return {};

  const known = await lookUp();
  if (known) return known;

  log(`making the system user "${USER}", since Postgres does not run as root`);
  const made = await runProgram('useradd', ['--system', '--user-group', '--no-create-home', USER]);
  const madeOtherwise = made.code === 0 ? made : await runProgram('adduser', ['-S', '-D', '-H', USER]);
  const user = await lookUp();
  if (user) return user;
  throw new Error(
    `Postgres does not run as root and the system user "${USER}" could not be made: ${madeOtherwise.stderr.trim()}`,
  );
}

/** Whether that user may enter the folder, found by trying, because modes, groups and access lists all count. */
export function canEnter(folder: string, identity: Identity): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...identity, cwd: '/', stdio: 'ignore' }).status === 0;
}

async function lookUp(): Promise<Required<Identity> | undefined> {
  const [user, group] = await Promise.all([runProgram('id', ['-u', USER]), runProgram('id', ['-g', USER])]);
  if (user.code !== 0 || group.code !== 0) return undefined;
  return { uid: Number(user.stdout), gid: Number(group.stdout) };
}
