import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { crc32, lineOf, linesIn } from '../../packages/ai-client/src/lines.ts';
import { projectRoot } from '../../src/platform/project-root.ts';

const folder = join(projectRoot(), 'packages/ai-client');

test('the client has no dependency: its sources import themselves and Node', () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
  const sources = readdirSync(join(folder, 'src')).map((name) => readFileSync(join(folder, 'src', name), 'utf8'));
  const imported = sources.flatMap((text) => [...text.matchAll(/from '(.+?)'/g)].map(([, name]) => name!));
  const others = imported.filter(
    (name) => !name.startsWith('./') && !builtinModules.includes(name.slice('node:'.length)),
  );
  expect(others).toEqual([]);
});

test('the packed client is one file that Node loads, with its types, and has at most 40 KiB packed', () => {
  const copy = join(mkdtempSync(join(tmpdir(), 'ai-client-')), 'packages', 'ai-client');
  cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('/dist') });
  for (const name of ['node_modules', 'tsconfig.json'])
    symlinkSync(join(projectRoot(), name), join(copy, '../..', name));
  const { scripts } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'));
  const path = `${join(projectRoot(), 'node_modules/.bin')}:${process.env.PATH}`;
  execFileSync('sh', ['-c', scripts.prepack], { cwd: copy, env: { ...process.env, PATH: path } });
  const out = join(copy, 'dist');
  const files = readdirSync(out);
  expect(files).toContain('index.d.ts');
  // Each module that Node loads costs milliseconds of a start.
  expect(files.filter((name) => name.endsWith('.js'))).toEqual(['index.js']);
  const packed = files.map((name) => gzipSync(readFileSync(join(out, name))).length);
  expect(packed.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(40 * 1024);
  const program = `import(${JSON.stringify(join(out, 'index.js'))}).then((all) => console.log(Object.keys(all).join()))`;
  const names = execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }).trim();
  expect(names).toBe('BudgetRefused,BudgetUnavailable,guard,meter,meterModel,openMeterstone,withMeter');
});

test('a line of a segment is read as it was written, and one that was changed is torn', () => {
  expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
  const lines = Buffer.concat([lineOf({ a: 'ä\n' }), lineOf({ b: 2 })]);
  expect(linesIn(lines, 0)).toEqual({
    records: [
      { record: { a: 'ä\n' }, end: lineOf({ a: 'ä\n' }).length },
      { record: { b: 2 }, end: lines.length },
    ],
    torn: 0,
  });
  lines[25]! ^= 1;
  expect(linesIn(lines, 0)).toMatchObject({ records: [{ record: { b: 2 } }], torn: 1 });
});
