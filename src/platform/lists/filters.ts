import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { INVALID, MANDATORY, OUT_OF_RANGE } from '../schema/fields.ts';
import { INVALID_DATE, parseBound } from '../schema/instant-field.ts';

/**
 * Filters of lists, one shape each (lists.md#filters-and-order). Each describes its input in `meta` for the API
 * description. Queries arrive with `name[]` folded into `name`: one value is a string, several are an array.
 */
const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);

/** One text; blank = absent. */
export const textFilter = z
  .unknown()
  .optional()
  .transform((value) => first(value))
  .transform((value) => (typeof value === 'string' && value.trim() !== '' ? value : undefined))
  .meta({ type: 'string' });

/** One text without which nothing can be answered: blank or missing is value_is_mandatory. */
export const mandatoryTextFilter = textFilter
  .transform((value, context) => {
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: MANDATORY });
    return z.NEVER;
  })
  .meta({ type: 'string', mandatory: true });

interface Bounds {
  min: number;
  max: number;
}

/** A whole number between bounds, if there is one; anything else is value_is_out_of_range. */
export const optionalNumberFilter = ({ min, max }: Bounds) =>
  textFilter
    .transform((value, context) => {
      if (value === undefined) return undefined;
      const number = /^\d{1,6}$/.test(value.trim()) ? Number(value) : -1;
      if (number >= min && number <= max) return number;
      context.addIssue({ code: 'custom', message: OUT_OF_RANGE });
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum: min, maximum: max });

/** The same; without it `usual`. */
export const numberFilter = ({ usual, ...bounds }: Bounds & { usual: number }) =>
  optionalNumberFilter(bounds)
    .transform((number) => number ?? usual)
    .meta({ type: 'integer', minimum: bounds.min, maximum: bounds.max });

/** Several texts; a scalar is an array of one; empty = absent. */
export const listFilter = z
  .unknown()
  .optional()
  .transform((value) =>
    (value === undefined ? [] : Array.isArray(value) ? value : [value]).filter(
      (each): each is string => typeof each === 'string' && each !== '',
    ),
  )
  .transform((values) => (values.length === 0 ? undefined : values))
  .meta({ type: 'array', items: { type: 'string' } });

/** Words of a list filter; an unknown one is refused. Rule: lists.md#filters-and-order. */
export const wordsFilter = <const Words extends readonly string[]>(words: Words) =>
  listFilter
    .refine((given) => given === undefined || given.every((word) => words.includes(word)), INVALID)
    .meta({ type: 'array', items: { type: 'string', enum: words } });

const YES = new Set(['true', '1', 't']);
const NO = new Set(['false', '0', 'f']);

/** `true/1/t` and `false/0/f`; anything else is absent. */
export const booleanFilter = z
  .unknown()
  .optional()
  .transform((value) => first(value))
  .transform((value) =>
    typeof value !== 'string' ? undefined : YES.has(value) ? true : NO.has(value) ? false : undefined,
  )
  .meta({ type: 'boolean' });

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A calendar day as text; malformed or outside the years 1 to 9999 = absent. */
export const dayFilter = textFilter
  .transform((value) => {
    const day = value?.trim() ?? '';
    return DAY.test(day) && parseBound(day) ? day : undefined;
  })
  .meta({ type: 'string', format: 'date' });

/** A calendar day without which nothing can be answered: missing is value_is_mandatory, malformed is invalid_date. */
export const mandatoryDayFilter = mandatoryTextFilter
  .transform((value, context) => {
    const day = value.trim();
    if (DAY.test(day) && parseBound(day)) return Temporal.PlainDate.from(day);
    context.addIssue({ code: 'custom', message: INVALID_DATE });
    return z.NEVER;
  })
  .meta({ type: 'string', format: 'date', mandatory: true });

/** A number of cents as decimal text of any length, to be compared as `numeric`; malformed = absent. */
export const amountFilter = textFilter
  .transform((value) => (value !== undefined && /^[+-]?\d+(\.\d+)?$/.test(value.trim()) ? value.trim() : undefined))
  .meta({ type: 'integer' });

/**
 * By how many metadata keys one list may be filtered: more than a reader needs, and few enough for one cheap condition.
 */
export const METADATA_KEYS_MAX = 10;

/**
 * `name[key]=value` as keys with one text each, blank where none was given; anything else = absent. More than
 * METADATA_KEYS_MAX keys: too_many_keys.
 */
export const metadataFilter = z
  .unknown()
  .optional()
  .transform((value, context) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    if (Object.keys(value).length > METADATA_KEYS_MAX) {
      context.addIssue({ code: 'custom', message: 'too_many_keys' });
      return z.NEVER;
    }
    return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, textFilter.parse(text) ?? '']));
  })
  .meta({ type: 'object', additionalProperties: { type: 'string' } });

/** Pattern of a case-insensitive substring search with `%` and `_` escaped. */
export const containsPattern = (term: string): string => `%${term.trim().replace(/[\\%_]/g, '\\$&')}%`;
