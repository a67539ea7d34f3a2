import fc from 'fast-check';
import { expect, test } from 'vitest';
import { extractUsage } from '../../../src/engine/ai/extract-usage.ts';
import type { Format, Path } from '../../../src/engine/ai/formats/format.ts';
import { FORMATS } from '../../../src/engine/ai/formats/formats.ts';
import { isTokenKind, type Kind } from '../../../src/engine/ai/kinds.ts';
import { ZERO } from '../../../src/engine/money/decimal.ts';

const AT = '2026-03-01T00:00:00.000000Z';

type Node = { [name: string]: number | Node | Node[] };

/** Writes a number where a path of a format leads. */
function write(into: Node, path: Path, value: number, isFlat: boolean): void {
  const names = isFlat ? [path] : path.split('.');
  let at = into;
  for (const name of names.slice(0, -1)) {
    const [, list, key, text] = /^(\w+)\[(\w+)=(\w+)\]$/.exec(name) ?? [];
    if (list === undefined) {
      at[name] ??= {};
      at = at[name] as Node;
    } else {
      at[list] ??= [];
      const element = { [key!]: text } as unknown as Node;
      (at[list] as Node[]).push(element);
      at = element;
    }
  }
  at[names.at(-1)!] = value;
}

/** Random usage objects of a format, as a map of path to number; each field may be missing. */
function usageOf({ variants, flatPrefix }: Format) {
  const paths = [...new Set(variants.flatMap(({ fields }) => fields.map(({ path }) => path[0]!)))];
  const number = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 2_000_000 }), fc.constant(1_000_000_000_000));
  return fc
    .record(Object.fromEntries(paths.map((path) => [path, number])), { requiredKeys: [] })
    .filter((fields) => Object.keys(fields).length > 0)
    .map((fields) => {
      const usage: Node = {};
      for (const [path, value] of Object.entries(fields)) write(usage, path, value!, flatPrefix !== undefined);
      return { fields, usage };
    });
}

test.each(FORMATS.map((format) => ({ code: format.code, format })))(
  'of any usage object of $code no part is negative and the parts are its totals (P1)',
  ({ code, format }) => {
    fc.assert(
      fc.property(usageOf(format), fc.boolean(), ({ fields, usage }, input_includes_cache) => {
        const sent = code === 'canonical' ? { parts: usage } : { body: usage };
        const names = { format: code, provider: 'p', model: 'm', input_includes_cache };
        const extraction = extractUsage({ ...names, ...sent }, AT);
        if (!extraction.ok) throw new Error(JSON.stringify(extraction));
        const { parts, inputTotal, outputTotal, flags } = extraction.usage;
        const tokens = Object.entries(parts).filter(([kind]) => isTokenKind(kind as Kind));
        for (const [, quantity] of Object.entries(parts)) expect(quantity.gte(0)).toBe(true);
        const all = tokens.reduce((sum, [, quantity]) => sum.plus(quantity), ZERO);
        expect(all.eq((inputTotal ?? ZERO).plus(outputTotal ?? ZERO))).toBe(true);
        const variant = format.variants.find(({ when, option }) =>
          when !== undefined ? when in usage : option === undefined || input_includes_cache,
        )!;
        const isReported = (path: Path) => Object.hasOwn(fields, path);
        const roots = variant.fields.filter(({ kind, within }) => within === undefined && isTokenKind(kind));
        const reported = roots.reduce(
          (sum, { path }) => sum.plus((fields as Record<string, number>)[path[0]!] ?? 0),
          ZERO,
        );
        expect(all.gte(reported)).toBe(true);
        if (flags.includes('parts_exceed_total') || !roots.every(({ path }) => isReported(path[0]!))) return;
        expect(all.eq(reported)).toBe(true);
      }),
      { numRuns: 300 },
    );
  },
);
