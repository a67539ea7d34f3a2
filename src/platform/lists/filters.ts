import { z } from 'zod';

/**
 * Filters of lists, one shape each (platform D.2). The edge hands queries over with `name[]` folded into `name`: one
 * value is a string, several are an array.
 */
const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);

/** One text; blank = absent. */
export const textFilter = z
  .unknown()
  .optional()
  .transform((value) => first(value))
  .transform((value) => (typeof value === 'string' && value.trim() !== '' ? value : undefined));

/** Several texts; a scalar is an array of one; empty = absent. */
export const listFilter = z
  .unknown()
  .optional()
  .transform((value) =>
    (value === undefined ? [] : Array.isArray(value) ? value : [value]).filter(
      (each): each is string => typeof each === 'string' && each !== '',
    ),
  )
  .transform((values) => (values.length === 0 ? undefined : values));

const YES = new Set(['true', '1', 't']);
const NO = new Set(['false', '0', 'f']);

/** `true/1/t` and `false/0/f`; anything else is absent. */
export const booleanFilter = z
  .unknown()
  .optional()
  .transform((value) => first(value))
  .transform((value) =>
    typeof value !== 'string' ? undefined : YES.has(value) ? true : NO.has(value) ? false : undefined,
  );

/** Pattern of a case-insensitive substring search with `%` and `_` escaped. */
export const containsPattern = (term: string): string => `%${term.trim().replace(/[\\%_]/g, '\\$&')}%`;
