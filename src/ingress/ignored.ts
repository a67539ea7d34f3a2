import { z } from 'zod';
import { queryFields } from '../platform/lists/query-fields.ts';
import type { Operation } from '../platform/operation.ts';
import type { Query } from './read-query.ts';

/** Names in one answer at most, and characters of each: enough to find the mistake. */
const MOST_NAMES = 20;
const NAME_MAX = 100;

/**
 * Filters of a list that it does not know, by the names they were sent with. Nothing elsewhere: only a list answers more
 * than was asked for when a filter is misspelt.
 *
 * sent, query  the same parameters in the same order, before and after the wire prefix was translated
 */
export function unknownFilters(operation: Operation, sent: Query, query: Query): string[] {
  const fields = queryFields(operation);
  if (operation.method !== 'get' || !fields || !('per_page' in fields)) return [];
  const names = Object.keys(sent);
  return Object.keys(query).flatMap((name, index) => (name in fields ? [] : [names[index]!]));
}

/**
 * Paths of the fields of a body that its schema does not know, `charges[4].nmae`. Where a schema rewrites or accepts
 * anything, nothing is said.
 */
export function unknownFields(schema: z.ZodType | undefined, value: unknown, path = ''): string[] {
  const known = schema && unwrapped(schema);
  if (known instanceof z.ZodArray && Array.isArray(value)) {
    const found: string[] = [];
    for (let index = 0; index < value.length && found.length < MOST_NAMES; index += 1)
      found.push(...unknownFields(known.element as z.ZodType, value[index], `${path}[${index}]`));
    return found;
  }
  if (!(known instanceof z.ZodObject) || known.def.catchall || !isObject(value)) return [];
  const shape = known.shape as Record<string, z.ZodType>;
  return Object.entries(value).flatMap(([name, inner]) => {
    const at = path === '' ? name : `${path}.${name}`;
    return Object.hasOwn(shape, name) ? unknownFields(shape[name], inner, at) : [at];
  });
}

/** The warning header's value: visible characters only, whatever was sent. */
export const ignoredHeader = (names: readonly string[]): Record<string, string> =>
  names.length === 0
    ? {}
    : {
        'X-Svc-Ignored': names
          .slice(0, MOST_NAMES)
          .map((name) => printable(name.slice(0, NAME_MAX)))
          .join(', '),
      };

const printable = (name: string): string =>
  name.toWellFormed().replace(/[^\w.[\]-]/gu, (char) => encodeURIComponent(char));

function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPipe) return unwrapped(schema.in as z.ZodType);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrapped(schema.def.innerType as z.ZodType);
  return schema;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
