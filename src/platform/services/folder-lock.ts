import { randomBytes } from 'node:crypto';
import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { birthOf } from './processes.ts';
import { readText } from './small-file.ts';

const RETRY_MS = 50;
/** Longest wait for the lock: downloading Redis over a slow line is the longest work under it. */
const MAX_WAIT_MS = 10 * 60_000;
const TELL_AFTER_MS = 2_000;

/**
 * Runs `work` while no other process does so for the same folder. The lock of a process that no longer exists is
 * taken over, so a kill at any instant blocks no other process.
 */
export async function withFolderLock<T>(
  folder: string,
  log: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const release = await takeLock(folder, log);
  try {
    return await work();
  } finally {
    await release();
  }
}

async function takeLock(folder: string, log: (line: string) => void): Promise<() => Promise<void>> {
  await makeFolder(folder);
  const file = join(folder, 'lock');
  // One process may ask twice at the same time, so its pid alone does not identify the holder.
  const mine = `${process.pid} ${birthOf(process.pid)} ${randomBytes(6).toString('hex')}`;
  const startedAt = performance.now();
  let told = false;

  while (!(await createWith(file, mine))) {
    const holder = await readText(file);
    if (holder !== undefined && !isHeld(holder)) {
      await removeStale(file, holder);
      continue;
    }
    const waitedMs = performance.now() - startedAt;
    const holderPid = holder?.split(' ')[0];
    if (waitedMs > MAX_WAIT_MS) throw new Error(`process ${holderPid} holds ${file} for too long`);
    if (waitedMs > TELL_AFTER_MS && !told) {
      log(`waiting for process ${holderPid}, which is starting or stopping the same servers`);
      told = true;
    }
    await pause(RETRY_MS);
  }
  return () => rm(file, { force: true });
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new Error(`cannot make the folder ${folder}: ${(error as Error).message}`, { cause: error });
  }
}

/** Creates the file with its text in one step; false if it exists. */
async function createWith(file: string, text: string): Promise<boolean> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, text, { mode: 0o644 });
    await link(draft, file);
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code === 'EACCES' || code === 'EROFS') {
      throw new Error(`cannot write to ${file}: the folder belongs to another user (${message})`, { cause: error });
    }
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

function isHeld(holder: string): boolean {
  const [pid, birth] = holder.split(' ');
  return birthOf(Number(pid)) === birth;
}

/**
 * Renames before deleting: of two processes that saw the same stale lock only one moves it, and a fresh lock is moved
 * back.
 */
async function removeStale(file: string, seen: string): Promise<void> {
  const aside = `${file}.stale-${randomBytes(6).toString('hex')}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if ((await readText(aside)) !== seen) await link(aside, file).catch(() => undefined); // taken by another process
  // meanwhile
  await rm(aside, { force: true });
}
