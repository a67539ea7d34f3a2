import { z } from 'zod';
import { isKeptNumber } from '../../engine/metrics/property-text.ts';
import { DECIMAL_MAX, LINE_MAX } from './sizes.ts';
import { isStorable } from './storable.ts';

/**
 * Building blocks of input schemas. The message of a rule IS the code that the API answers
 * (error-bodies.md#generic-codes-of-a-422): absent, null or blank where required → value_is_mandatory, and so on.
 * Unknown keys are dropped by plain `z.object`.
 */
export const MANDATORY = 'value_is_mandatory';
export const INVALID = 'value_is_invalid';
export const OUT_OF_RANGE = 'value_is_out_of_range';
export const TOO_LONG = 'value_is_too_long';
export const FORMAT = 'invalid_format';

// Postgres stores neither U+0000 nor a lone surrogate (json.md).
const scalarText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' || isKeptNumber(value) ? String(value) : value;

/** Length of a text: in characters, and in bytes if an index holds it. */
interface TextSize {
  max?: number;
  maxBytes?: number;
}

const isWithinBytes =
  ({ maxBytes }: TextSize) =>
  (value: string): boolean =>
    maxBytes === undefined || Buffer.byteLength(value) <= maxBytes;

/** Mandatory text that is not blank; numbers become their text. */
export const text = (size: TextSize = {}) =>
  z
    .preprocess(
      scalarText,
      z
        .string({ error: (issue) => (issue.input === undefined || issue.input === null ? MANDATORY : INVALID) })
        .max(size.max ?? LINE_MAX, TOO_LONG),
    )
    .refine((value) => value.trim() !== '', MANDATORY)
    .refine(isStorable, FORMAT)
    .refine(isWithinBytes(size), TOO_LONG);

/** Text or null; absent stays absent. */
export const optionalText = (size: TextSize = {}) =>
  z
    .preprocess(
      scalarText,
      z
        .string(INVALID)
        .max(size.max ?? LINE_MAX, TOO_LONG)
        .refine(isStorable, FORMAT)
        .refine(isWithinBytes(size), TOO_LONG)
        .nullable(),
    )
    .optional();

/** Text whose null bytes are removed and whose blank form is null: names and addresses of customers (json.md). */
export const cleanText = (size: TextSize = {}) =>
  z
    .preprocess(
      (value) => {
        const scalar = scalarText(value);
        if (typeof scalar !== 'string') return scalar;
        const cleaned = scalar.replaceAll('\0', '');
        return cleaned.trim() === '' ? null : cleaned;
      },
      z
        .string(INVALID)
        .max(size.max ?? LINE_MAX, TOO_LONG)
        .refine(isStorable, FORMAT)
        .nullable(),
    )
    .optional();

/** An object without null bytes in its names and texts: metadata (json.md). Anything else is unchanged. */
export const withoutNullBytes = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, each]) => [
          key.replaceAll('\0', ''),
          typeof each === 'string' ? each.replaceAll('\0', '') : each,
        ]),
      )
    : value;

/** One of a list of words. Missing or unknown: `value_is_invalid`. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: () => INVALID });

/**
 * One of `words`, of which answers and the description name those that are not `refused`: a later check refuses these
 * with a code of its own, which says more than that the word is unknown.
 */
export const oneOfOffered = <const Words extends readonly [string, ...string[]]>(
  words: Words,
  refused: readonly Words[number][],
) => oneOf(words).meta({ enum: words.filter((word) => !refused.includes(word)) });

const asInteger = (value: unknown): unknown =>
  typeof value === 'string' && value.length <= DECIMAL_MAX && /^[+-]?\d+$/.test(value.trim()) ? Number(value) : value;

/** Whole number, also as numeric text, within safe integers; missing → value_is_mandatory. */
export const integer = (options: { min?: number; max?: number } = {}) =>
  z
    .preprocess(
      asInteger,
      z.number({
        error: (issue) =>
          issue.input === undefined || issue.input === null || issue.input === '' ? MANDATORY : INVALID,
      }),
    )
    .refine((value) => Number.isInteger(value), INVALID)
    .refine((value) => {
      const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = options;
      return !Number.isInteger(value) || (value >= min && value <= max);
    }, OUT_OF_RANGE);

const TRUE = new Set<unknown>([true, 'true', '1', 1]);
const FALSE = new Set<unknown>([false, 'false', '0', 0]);

/** Boolean, also in its text forms. */
export const boolean = () =>
  z.preprocess(
    (value) => (TRUE.has(value) ? true : FALSE.has(value) ? false : value),
    z.boolean({ error: () => INVALID }),
  );

const PLAIN_DECIMAL = /^[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/;

/**
 * Decimal as number or numeric text of at most 64 characters; becomes a text, so that it never passes through a binary
 * float. Later rules, also those of the object around it, see decimals only.
 */
export const decimalInput = () =>
  z
    .union([z.string().max(DECIMAL_MAX, { abort: true }), z.number()], {
      error: ({ input }) => {
        if (input === undefined || input === null) return MANDATORY;
        return typeof input === 'string' && input.length > DECIMAL_MAX ? TOO_LONG : INVALID;
      },
    })
    .transform((value, context): string => {
      const text = String(value).trim();
      if (PLAIN_DECIMAL.test(text)) return text;
      context.addIssue({ code: 'custom', message: INVALID });
      return z.NEVER;
    });
