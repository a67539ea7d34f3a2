import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot, rootAbove } from '../../src/platform/project-root.ts';

test('a folder without a package.json above it is refused, and not looked for without end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'root-'));
  expect(() => rootAbove(folder)).toThrow('there is no package.json');
  await rm(folder, { recursive: true });
});

test('the root is found from folders below it', () => {
  expect(rootAbove(join(projectRoot(), 'src', 'platform'))).toBe(projectRoot());
});
