import { createHash } from 'node:crypto';
import { ALL_FILTER_VALUES, type FilterValues } from '../../../engine/metrics/choose-filter.ts';

/** How many characters a filter's internal code has at most before its digest. */
const MAX_SLUG_LENGTH = 200;

/** What makes two filters the same: their keys and the values of each, in whatever order. */
export const identityOf = (values: FilterValues): string =>
  JSON.stringify(
    Object.entries(values)
      .map(([key, texts]): [string, string[]] => [key, [...texts].sort()])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/**
 * Internal code of a new filter: a slug of its values and a digest of all of them, numbered when taken.
 * Rule: groups-and-filters.md#filters-of-a-charge.
 */
export function filterCode(values: FilterValues, taken: ReadonlySet<string>): string {
  const words = Object.values(values).flat().join('_').toLowerCase();
  const slug = words.replaceAll(/[^a-z0-9]+/g, '_').slice(0, MAX_SLUG_LENGTH);
  const code = `${slug}_${createHash('sha256').update(identityOf(values)).digest('hex').slice(0, 8)}`;
  return firstFree(code, taken);
}

/** What is wrong with the values of a filter. Rule: groups-and-filters.md#filters-of-a-charge. */
export function valuesFaults(values: FilterValues, declared: FilterValues): Record<string, string[]> {
  const entries = Object.entries(values);
  if (entries.length === 0 || entries.some(([, texts]) => texts.length === 0))
    return { values: ['value_is_mandatory'] };

  const isDeclared = ([key, texts]: [string, readonly string[]]) =>
    Object.hasOwn(declared, key) && (isWildcard(texts) || texts.every((text) => declared[key]!.includes(text)));
  return {
    ...(entries.every(([key]) => Object.hasOwn(declared, key))
      ? {}
      : { billable_metric_filter: ['relation_must_exist'] }),
    ...(entries.every(isDeclared) ? {} : { values: ['value_is_invalid'] }),
  };
}

/**
 * Values of a filter after its metric's filters changed: undeclared values are removed, and so are keys without values
 * and keys that the metric no longer has. A wildcard stays. A filter without keys is removed.
 *
 * Rule: billable-metrics.md#update-and-delete.
 */
export function trimmedValues(values: FilterValues, declared: FilterValues): FilterValues | undefined {
  const left = Object.entries(values)
    .filter(([key]) => Object.hasOwn(declared, key))
    .map(([key, texts]): [string, readonly string[]] => [
      key,
      isWildcard(texts) ? texts : texts.filter((text) => declared[key]!.includes(text)),
    ])
    .filter(([, texts]) => texts.length > 0);
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/** `code`, else `code_2`, `code_3`, …: the number after the highest that is taken. */
export function firstFree(code: string, taken: ReadonlySet<string>): string {
  if (!taken.has(code)) return code;
  const numbers = [...taken]
    .filter((other) => other.startsWith(`${code}_`))
    .map((other) => other.slice(code.length + 1))
    .filter((suffix) => /^[1-9]\d{0,8}$/.test(suffix))
    .map(Number);
  return `${code}_${Math.max(1, ...numbers) + 1}`;
}

const isWildcard = (texts: readonly string[]): boolean => texts.length === 1 && texts[0] === ALL_FILTER_VALUES;
