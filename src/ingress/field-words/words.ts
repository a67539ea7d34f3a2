import { BUDGET_FIELDS, SHOWN_BUDGET_FIELDS } from './budgets.ts';
import { CATALOG_FIELDS } from './catalog.ts';
import { COMMON_FIELDS } from './common.ts';
import { CUSTOMER_FIELDS } from './customers.ts';
import { MONEY_FIELDS } from './money.ts';
import { PARAMETERS } from './parameters.ts';
import { SHOWN_FIELDS } from './shown.ts';
import { USAGE_FIELDS } from './usage.ts';

/**
 * What a field means, by the end of its path: `amount_cents` wherever no longer row fits, `plan.amount_cents` below a
 * plan, `createPlan.plan.amount_cents` of one operation. Lists and maps are no part of the path.
 */
export type FieldWords = Readonly<Record<string, string>>;

/** Words of bodies, of queries and paths, and of answers. */
export const WORDS = {
  body: { ...COMMON_FIELDS, ...CATALOG_FIELDS, ...CUSTOMER_FIELDS, ...USAGE_FIELDS, ...BUDGET_FIELDS, ...MONEY_FIELDS },
  parameter: PARAMETERS,
  answer: { ...SHOWN_FIELDS, ...SHOWN_BUDGET_FIELDS },
} as const satisfies Record<string, FieldWords>;

/** The longest row that fits the end of a path; undefined where none does. */
export function rowFor(words: FieldWords, path: readonly string[]): string | undefined {
  for (let from = 0; from < path.length; from += 1) {
    const key = path.slice(from).join('.');
    if (Object.hasOwn(words, key)) return key;
  }
  return undefined;
}

type JsonSchema = Record<string, unknown>;

/**
 * The same JSON Schema with a description at each field that has none of its own.
 *
 * path  the operation, or the name of a shared part, and the fields above
 */
export function described(schema: unknown, words: FieldWords, path: readonly string[]): unknown {
  if (Array.isArray(schema)) return schema.map((each) => described(each, words, path));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, inner]) => {
      if (key === '$defs') return [key, mapped(inner, (name, part) => described(part, words, [name]))];
      if (key === 'properties') return [key, mapped(inner, (name, field) => withWords(field, words, [...path, name]))];
      return [key, PARTS.has(key) ? described(inner, words, path) : inner];
    }),
  );
}

/** Below these a schema goes on with the same path. */
const PARTS = new Set(['anyOf', 'oneOf', 'allOf', 'items', 'additionalProperties']);

function withWords(field: JsonSchema, words: FieldWords, path: readonly string[]): JsonSchema {
  const key = rowFor(words, path);
  const schema = described(field, words, path) as JsonSchema;
  return key === undefined || field.description !== undefined ? schema : { ...schema, description: words[key] };
}

const mapped = (value: unknown, change: (name: string, inner: JsonSchema) => unknown): JsonSchema =>
  Object.fromEntries(
    Object.entries(value as Record<string, JsonSchema>).map(([name, inner]) => [name, change(name, inner)]),
  );
