import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Identity } from './run-program.ts';

/**
 * Replaces a file in one step, readable by its owner only: a reader, or a start after a kill, never sees an incomplete
 * one. `owner` becomes its owner if root writes for another user.
 */
export async function writePrivateFile(file: string, text: string, owner: Identity = {}): Promise<void> {
  const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    if (owner.uid !== undefined && owner.gid !== undefined) await chown(draft, owner.uid, owner.gid);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export const writePrivateJson = (file: string, value: unknown, owner?: Identity): Promise<void> =>
  writePrivateFile(file, `${JSON.stringify(value, null, 2)}\n`, owner);

/** The parsed file; undefined when it is missing or not JSON. */
export async function readJson<T>(file: string): Promise<T | undefined> {
  const text = await readText(file);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

/** The file's text; undefined when it is missing. */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
