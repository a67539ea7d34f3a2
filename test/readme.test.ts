import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeSettings } from '../src/platform/config.ts';
import { projectRoot } from '../src/platform/project-root.ts';

const path = join(projectRoot(), 'README.md');

/** The table as the schema of the settings has it. */
function settingsTable(): string {
  const rows = describeSettings().map(
    ({ name, fallback, meaning }) => `| \`${name}\` | ${fallback === '' ? 'none' : fallback} | ${meaning} |`,
  );
  return ['| Setting | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

test('the README lists every setting as the schema has it (UPDATE_README=1 rewrites the table)', () => {
  const text = readFileSync(path, 'utf8');
  const wanted = text.replace(/(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/, `$1${settingsTable()}\n$2`);
  if (process.env.UPDATE_README) writeFileSync(path, wanted);
  expect(wanted).toContain('`REDIS_URL`');
  expect(readFileSync(path, 'utf8')).toBe(wanted);
});
