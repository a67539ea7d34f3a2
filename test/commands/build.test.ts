import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';

const BUILD = 'src/commands/start/build.mjs';

/** A project whose compiler only leaves the note that a build of it leaves. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), 'meterstone-build-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = {
    'package.json': '{"devDependencies":{"typescript":"1"}}',
    'bin/patch-driver.mjs': '',
    'node_modules/typescript/package.json': '{}',
    'node_modules/typescript/bin/tsc':
      "require('fs').mkdirSync('dist',{recursive:true});require('fs').writeFileSync('dist/.tsbuildinfo','')",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  cpSync(join(projectRoot(), BUILD), join(folder, BUILD), { recursive: true });
  return folder;
}

test('a build says before and after that it compiles, and that the first one takes longer', async () => {
  const folder = project();
  const build = async () => (await promisify(execFile)(process.execPath, [BUILD], { cwd: folder })).stdout;
  expect(await build()).toMatch(
    /^compiling the service, which a first start waits for \.\.\.\ncompiled \(\d+\.\d s\)\n$/,
  );
  expect(await build()).toMatch(/^compiling what has changed \.\.\.\ncompiled \(\d+\.\d s\)\n$/);
});
