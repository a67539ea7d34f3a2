import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { startService, type TestService } from '../support/service.ts';

const run = promisify(execFile);
const SOURCES = join(projectRoot(), 'test/generated-client');
const STRICT = [
  '--strict',
  '--noUncheckedIndexedAccess',
  '--target',
  'ES2022',
  '--module',
  'NodeNext',
  '--types',
  'node',
];

let service: TestService;
let folder: string;

beforeAll(async () => {
  service = await startService();
  // Where the packages of the project are found.
  folder = await mkdtemp(join(projectRoot(), 'node_modules', '.generated-client-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await service.stop();
});

const inFolder = async (command: string, ...args: string[]): Promise<string> => {
  const told = await run(command, args, { cwd: folder }).catch((error: { stdout: string; stderr: string }) => error);
  if (told instanceof Error) throw new Error(`${command} ${args.join(' ')}\n${told.stdout}\n${told.stderr}`);
  return told.stdout;
};

test('a client generated from the API description compiles and works against the service', async () => {
  const described = await (await fetch(`${service.url}/openapi.json`)).text();
  await writeFile(join(folder, 'openapi.json'), described);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await copyFile(join(SOURCES, 'program.ts'), join(folder, 'program.ts'));

  await inFolder('node', join(SOURCES, 'generate.mjs'), 'openapi.json', '-o', 'schema.d.ts');
  await inFolder(
    'node',
    join(projectRoot(), 'node_modules/typescript/bin/tsc'),
    '--ignoreConfig',
    ...STRICT,
    'program.ts',
  );
  const { organization } = await service.org();
  const told = await inFolder('node', 'program.js', service.url, organization.api_key);

  expect(JSON.parse(told)).toEqual({
    interval: 'monthly',
    amountCents: expect.any(Number),
    found: ['ada-1'],
    none: 0,
    status: 422,
    place: {
      path: 'plan.interval',
      code: 'value_is_invalid',
      allowed: ['weekly', 'monthly', 'quarterly', 'semiannual', 'yearly'],
    },
  });
});
