import { isDeepStrictEqual } from 'node:util';

/**
 * Value at a path of a body: `invoices[0].fees[item.type=charge&units=2].amount_cents`; `[*]` maps, `.length` counts.
 */
export function lookup(value: unknown, path: string): unknown {
  if (path === '' || path === '$') return value;
  let found = value;
  for (const part of path.match(/\[[^\]]*\]|[^.[\]]+/g) ?? []) found = step(found, part);
  return found;
}

function step(value: unknown, part: string): unknown {
  if (value === undefined || value === null) return undefined;
  if (part === 'length') return (value as { length?: number }).length;
  if (!part.startsWith('[')) {
    return Array.isArray(value)
      ? value.map((each) => (each as Record<string, unknown>)?.[part])
      : (value as Record<string, unknown>)[part];
  }
  const inner = part.slice(1, -1);
  if (inner === '*') return value;
  if (!Array.isArray(value)) return undefined;
  if (/^-?\d+$/.test(inner)) return value.at(Number(inner));
  const tests = inner.split('&').map((test) => {
    const at = test.indexOf('=');
    return { key: test.slice(0, at), want: test.slice(at + 1) };
  });
  return value.find((each) =>
    tests.every(({ key, want }) => {
      const got = key
        .split('.')
        .reduce<unknown>((inside, name) => (inside as Record<string, unknown> | undefined)?.[name], each);
      return String(got) === want || same(got, want);
    }),
  );
}

const isNumeric = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value));
const isStamp = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);

// Numbers and decimal strings compare as numbers, timestamps as instants.
function same(got: unknown, want: unknown): boolean {
  if (isNumeric(got) && isNumeric(want)) return Number(got) === Number(want);
  if (isStamp(got) && isStamp(want)) return Date.parse(got) === Date.parse(want);
  return isDeepStrictEqual(got, want);
}

const OPERATORS: Record<string, (got: never, argument: never) => boolean> = {
  $any: (got: unknown) => got !== undefined && got !== null,
  $absent: (got: unknown, wanted: boolean) => (got === undefined || got === null) === wanted,
  $gt: (got: unknown, bound: number) => Number(got) > bound,
  $gte: (got: unknown, bound: number) => Number(got) >= bound,
  $lt: (got: unknown, bound: number) => Number(got) < bound,
  $lte: (got: unknown, bound: number) => Number(got) <= bound,
  $near: (got: unknown, [middle, tolerance]: [number, number]) => Math.abs(Number(got) - middle) <= tolerance,
  $len: (got: { length?: number } | undefined, length: number) => got?.length === length,
  $match: (got: unknown, pattern: string) => new RegExp(pattern).test(String(got)),
  $ne: (got: unknown, other: unknown) => !same(got, other),
  $in: (got: unknown, list: unknown[]) => list.some((each) => same(got, each)),
  $date: (got: unknown, day: string) => typeof got === 'string' && got.slice(0, 10) === day,
  $contains: (got: unknown, wanted: unknown[]) => Array.isArray(got) && eachHasItsOwn(got, wanted),
  $unordered: (got: unknown, wanted: unknown[]) =>
    Array.isArray(got) && got.length === wanted.length && eachHasItsOwn(got, wanted),
};

/**
 * Why `got` differs from the wanted value, or null if it does not: a literal, an object of paths, or an object of
 * $-operators.
 */
export function mismatch(got: unknown, want: unknown, at = ''): string | null {
  if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length !== want.length)
      return `${at}: wanted ${want.length} items, got ${brief(got)}`;
    return firstOf(want.map((each, index) => () => mismatch(got[index], each, `${at}[${index}]`)));
  }
  if (want === null || typeof want !== 'object')
    return same(got, want) ? null : `${at}: wanted ${JSON.stringify(want)}, got ${brief(got)}`;
  const operators = Object.entries(want).filter(([key]) => key.startsWith('$'));
  if (operators.length > 0) {
    return firstOf(
      operators.map(([name, argument]) => () => {
        const operator = OPERATORS[name];
        if (!operator) return `${at}: unknown operator ${name}`;
        return operator(got as never, argument as never)
          ? null
          : `${at}: wanted ${name} ${JSON.stringify(argument)}, got ${brief(got)}`;
      }),
    );
  }
  if (got === null || typeof got !== 'object') return `${at}: wanted an object, got ${brief(got)}`;
  return firstOf(
    Object.entries(want).map(
      ([path, inner]) =>
        () =>
          mismatch(lookup(got, path), inner, at ? `${at}.${path}` : path),
    ),
  );
}

function firstOf(checks: (() => string | null)[]): string | null {
  for (const check of checks) {
    const found = check();
    if (found) return found;
  }
  return null;
}

// Each wanted item must match a separate actual item; the lists are small.
function eachHasItsOwn(got: unknown[], wanted: unknown[], used = new Set<number>(), index = 0): boolean {
  if (index === wanted.length) return true;
  return got.some((candidate, place) => {
    if (used.has(place) || mismatch(candidate, wanted[index]) !== null) return false;
    used.add(place);
    if (eachHasItsOwn(got, wanted, used, index + 1)) return true;
    used.delete(place);
    return false;
  });
}

/** Short JSON of a value, for messages. */
export function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
