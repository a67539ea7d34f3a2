import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { extractUsage, type UsageInput } from '../../src/engine/ai/extract-usage.ts';
import { FORMATS } from '../../src/engine/ai/formats/formats.ts';
import { projectRoot } from '../../src/platform/project-root.ts';

interface Recorded {
  input: UsageInput;
  expected: { parts: Record<string, number>; inputTotal?: number } & Record<string, unknown>;
}

const FOLDER = join(projectRoot(), 'test/ai/bodies');
const recorded = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({ name, ...(JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Recorded) }));

test('at least forty bodies are recorded, some of each format', () => {
  expect(recorded.length).toBeGreaterThanOrEqual(40);
  const folders = new Set(recorded.map(({ name }) => name.split('/')[0]));
  expect(FORMATS.map(({ code }) => code).filter((code) => !folders.has(code))).toEqual([]);
});

test.each(recorded)('the recorded body $name is read as its provider means it', ({ input, expected }) => {
  const extraction = extractUsage(input, '2026-03-01T00:00:00.000000Z');
  if (!extraction.ok) throw new Error(JSON.stringify(extraction));
  const { parts, inputTotal, outputTotal: _, ...rest } = extraction.usage;
  const numbers = Object.fromEntries(
    Object.entries(parts).map(([kind, quantity]) => [kind, Number(quantity.toFixed())]),
  );
  expect(numbers).toEqual(expected.parts);
  expect({ ...rest, inputTotal: inputTotal?.toNumber() }).toMatchObject(withoutParts(expected));
});

const withoutParts = ({ parts: _, ...others }: Recorded['expected']): object => others;
