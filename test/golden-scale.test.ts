import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/platform/project-root.ts';

// The list of golden cases of more than one machine names the test of each, and leaves none out.

const ROOT = projectRoot();
const CASES = 14;
const page = readFileSync(join(ROOT, 'docs/rules/golden-scale.md'), 'utf8');

interface Listed {
  number: number;
  tests: { file: string; titles: string[] }[];
}

const rows: Listed[] = page.split('\n').flatMap((line) => {
  const [, number, tests] = /^\| \[SC(\d+)\]\([^)]*\) \|.*\| (`.*) \|$/.exec(line) ?? [];
  if (number === undefined) return [];
  const listed = tests!.split('<br>').map((each) => ({
    file: /^`([^`]+)`/.exec(each)![1]!,
    titles: [...each.matchAll(/“([^”]*)”/g)].map(([, title]) => title!),
  }));
  return [{ number: Number(number), tests: listed }];
});

test('every golden case of more than one machine is listed once, in order', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: CASES }, (_, index) => index + 1));
});

test('every test that the list names exists under its title', () => {
  const missing = rows.flatMap(({ number, tests }) =>
    tests.flatMap(({ file, titles }) => {
      const text = existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '';
      return titles.filter((title) => !text.includes(title)).map((title) => `SC${number}: ${file}: ${title}`);
    }),
  );
  expect(missing).toEqual([]);
  expect(rows.filter(({ tests }) => tests.every(({ titles }) => titles.length === 0))).toEqual([]);
});

test('every test that names a golden case of more than one machine is in the list', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' });
  const unlisted = files
    .filter((name) => name.endsWith('.test.ts') && name !== 'golden-scale.test.ts')
    .flatMap((name) => {
      const file = `test/${name}`;
      const named = readFileSync(join(ROOT, file), 'utf8').matchAll(/(?<=[('\s])SC(\d+)\b/g);
      const numbers = new Set([...named].map(([, number]) => Number(number)));
      return [...numbers]
        .filter((number) => number <= CASES)
        .filter((number) => !rows[number - 1]?.tests.some((each) => each.file === file))
        .map((number) => `SC${number}: ${file}`);
    });
  expect(unlisted).toEqual([]);
});
