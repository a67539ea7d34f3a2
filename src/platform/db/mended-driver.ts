import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../project-root.ts';

const PROGRAM = 'bin/patch-driver.mjs';

/**
 * Why this installation must not connect: its driver is not patched, so a cut connection would crash the process or mix
 * two sessions. That happens if packages were installed without their scripts.
 *
 * @returns undefined if the driver is patched
 */
export async function whyDriverIsWrong(root = projectRoot()): Promise<string | undefined> {
  const { isMended } = (await import(pathToFileURL(join(root, PROGRAM)).href)) as { isMended: () => boolean };
  return isMended()
    ? undefined
    : `the database driver in node_modules is not mended (installed with --ignore-scripts?): run "node ${PROGRAM}"`;
}
