import { expect, test } from 'vitest';
import type { z } from 'zod';
import { operations } from '../../src/operations.ts';

// Every text, list, record and free value of every body ends somewhere (everywhere.md#bounded-cost). Queries end with
// the URL.
interface Definition {
  type: string;
  format?: string;
  /** Of a list, a record and a value of any form made by platform/schema/bounded.ts. */
  most?: number;
  element?: z.ZodType;
  keyType?: z.ZodType;
  valueType?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
  options?: z.ZodType[];
  shape?: Record<string, z.ZodType>;
}

/** Types of schemas that hold no more than a word. */
const SMALL = new Set(['number', 'boolean', 'enum', 'literal', 'null', 'transform']);

/** Where a schema takes what has no end. */
function endless(schema: z.ZodType, path: string): string[] {
  const definition = schema._zod.def as unknown as Definition;
  const { type, most, element, valueType, innerType, options, shape } = definition;
  if (SMALL.has(type)) return [];
  if (type === 'string') {
    const { maxLength } = schema as z.ZodString;
    return maxLength === null && !definition.format ? [`${path}: text`] : [];
  }
  const own =
    ['array', 'record', 'unknown', 'any', 'custom'].includes(type) && most === undefined ? [`${path}: ${type}`] : [];
  if (type === 'array') return [...own, ...endless(element!, `${path}[]`)];
  if (type === 'record') return [...own, ...endless(valueType!, `${path}{}`)];
  if (type === 'unknown' || type === 'any' || type === 'custom') return own;
  if (type === 'object') return Object.entries(shape!).flatMap(([name, each]) => endless(each, `${path}.${name}`));
  if (type === 'union') return options!.flatMap((each) => endless(each, path));
  if (type === 'pipe') return [definition.in!, definition.out!].flatMap((each) => endless(each, path));
  return innerType ? endless(innerType, path) : [`${path}: ${type} is unknown here`];
}

test.each(operations.filter(({ body }) => body).map((operation) => [operation.name, operation] as const))(
  'the body of %s has a limit at every depth',
  (_, operation) => {
    expect(endless(operation.body!, operation.root ?? '')).toEqual([]);
  },
);
