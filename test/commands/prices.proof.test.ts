import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { warnOfPriceAge } from '../../src/areas/catalog/price-book/price-age.ts';
import { isKind } from '../../src/engine/ai/kinds.ts';
import { projectRoot } from '../../src/platform/project-root.ts';
import { newDataFolder } from '../platform/services/data-folder.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const run = promisify(execFile);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** What the command prints; with its exit code and complaint when it fails. */
async function prices(...args: string[]): Promise<{ code: number; out: string; complaint: string }> {
  const env = { ...process.env, DATABASE_URL: database.url };
  try {
    const { stdout, stderr } = await run(process.execPath, ['bin/meterstone.mjs', 'prices', ...args], {
      cwd: projectRoot(),
      env,
    });
    return { code: 0, out: stdout, complaint: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, complaint: stderr };
  }
}

/** Lines that the daily look writes. */
async function warnings(): Promise<object[]> {
  const lines: object[] = [];
  const log = { warn: (fields: object) => lines.push(fields) };
  await warnOfPriceAge.sweep({ sql: database.sql, config: { PRICE_BOOK_WARN_DAYS: 45 }, log } as never, null as never);
  return lines;
}

test('the sample has at least 300 models, each price with its source and month, and is marked as one', () => {
  const { entries, notice, as_of } = JSON.parse(readFileSync(join(projectRoot(), 'data/prices.json'), 'utf8'));
  expect(
    new Set(entries.map(({ provider, model }: Record<string, string>) => `${provider} ${model}`)).size,
  ).toBeGreaterThan(300);
  expect(notice).toContain('sample');
  for (const { kind, cost, source, source_ref } of entries) {
    expect(isKind(kind)).toBe(true);
    expect(cost).toMatch(/^\d+(\.\d+)?$/);
    expect(source).toBe('sample');
    expect(source_ref).toBe(`${source_ref.split(' ')[0]} ${as_of.slice(0, 7)}`);
  }
});

test('prices fill the layer of the deployment from the sample and from files, and say how old they are', async () => {
  expect((await prices('status')).out).toBe('version 0: 0 prices of 0 models\nno file was read\n');
  expect(await warnings()).toEqual([]);
  const tried = await prices('sample', '--dry-run');
  expect(tried).toMatchObject({ code: 0, out: expect.stringContaining('sample') });
  expect((await prices('status')).out).toContain('version 0: 0 prices');

  expect((await prices('sample')).out).toContain('"entries_changed": 0');
  const again = await prices('sample');
  expect(again.out).toContain('"entries_new": 0');
  expect((await prices('status')).out).toMatch(/^version 1: \d{3} prices of 3\d\d models\nas of \d+ days ago\n$/);
  const [alpha] = await database.sql<{ cost: string; source: string; source_ref: string }[]>`
    select cost::text as cost, source, source_ref from price_entries
    where organization_id is null and provider = 'openai' and model = 'gpt-4o'
      and kind = 'input' and tier = 'standard'`;
  expect(alpha).toEqual({ cost: '2.5', source: 'sample', source_ref: 'https://openai.com/api/pricing 2025-08' });
  expect(await warnings()).toEqual([{ days: expect.any(Number) }]);

  const file = join(await newDataFolder(), 'map.json');
  const map = (cost: string) =>
    writeFileSync(file, `{"gemini/gemini-2.5-flash":{"litellm_provider":"gemini","input_cost_per_token":${cost}}}`);
  map('6e-07');
  const refused = await prices('import', file);
  expect(refused).toMatchObject({ code: 1, complaint: expect.stringContaining('--force') });
  expect(JSON.parse((await prices('import', file, '--force')).out).import).toMatchObject({
    entries_changed: 1,
    book_version: 2,
    changes: [{ model: 'gemini-2.5-flash', from: '0.3', to: '0.6', percent: '100.0' }],
  });
  expect((await prices('status')).out).toContain('as of 0 days ago');
  expect(await warnings()).toEqual([]);
  expect((await prices('import', file, '--valid-from', 'soon')).complaint).toContain('--valid-from is no instant');
  expect((await prices('import', join(file, 'none'))).code).toBe(1);
});
