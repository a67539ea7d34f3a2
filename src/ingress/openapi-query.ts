import { z } from 'zod';
import { queryFields } from '../platform/lists/query-fields.ts';
import type { Operation } from '../platform/operation.ts';
import { rowFor, WORDS } from './field-words/words.ts';

type Parameter = {
  name: string;
  in: 'query' | 'path';
  description?: string;
  required: boolean;
  schema: Record<string, unknown>;
  style?: 'deepObject' | 'form';
  explode?: boolean;
};

/**
 * Parameters of an operation's query as clients send them: lists by `name[]`, values by key as `name[key]`, with the
 * types in the filters' `meta`. Query schemas accept anything, so their own shape shows nothing.
 */
export function queryParameters(operation: Operation): Parameter[] {
  return Object.entries(queryFields(operation) ?? {}).map(([name, field]) => {
    const schema = sentAs(field);
    const shared = { in: 'query', ...meaning(operation, name), required: field.meta()?.mandatory === true } as const;
    if (schema.type === 'array') return { name: `${name}[]`, ...shared, schema, style: 'form', explode: true };
    if (schema.type === 'object') return { name, ...shared, schema, style: 'deepObject', explode: true };
    return { name, ...shared, schema };
  });
}

/** The names in the path of an operation. */
export const pathParameters = (operation: Operation): Parameter[] =>
  [...operation.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name: name!,
    in: 'path',
    ...meaning(operation, name!),
    required: true,
    schema: { type: 'string' },
  }));

function meaning(operation: Operation, name: string): { description?: string } {
  const key = rowFor(WORDS.parameter, [operation.name, name]);
  return key === undefined ? {} : { description: WORDS.parameter[key]! };
}

/** The documented input of the filter nearest to the client; a text if none is documented. */
function sentAs(field: z.ZodType): Record<string, unknown> {
  let outermost: unknown = field;
  while (outermost instanceof z.ZodType) {
    const { type, items, enum: words, format, minimum, maximum, additionalProperties } = outermost.meta() ?? {};
    const said = { type, items, enum: words, format, minimum, maximum, additionalProperties };
    if (type !== undefined) return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
    if (outermost instanceof z.ZodEnum) return { type: 'string', enum: outermost.options };
    outermost = inside(outermost);
  }
  return { type: 'string' };
}

function inside(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodPipe) return schema.in;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodCatch || schema instanceof z.ZodDefault)
    return schema.def.innerType;
  return undefined;
}
