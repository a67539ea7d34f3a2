import { z } from 'zod';

/** The longest list of accepted values in an error; longer ones are standards, such as currencies and countries. */
const ALLOWED_MAX = 50;

/** A schema without its wrappers: the requirements for a value that is present. */
export function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPipe)
    return unwrapped((schema.in instanceof z.ZodTransform ? schema.out : schema.in) as z.ZodType);
  const inner = innerOf(schema);
  return inner === undefined ? schema : unwrapped(inner);
}

function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodCatch
  )
    return schema.def.innerType as z.ZodType;
  return undefined;
}

/** The schemas of a value under `key`; none if the schema has no such key. */
export function schemasUnder(schema: z.ZodType, key: string | number): z.ZodType[] {
  const known = unwrapped(schema);
  if (known instanceof z.ZodUnion) return known.options.flatMap((option) => schemasUnder(option as z.ZodType, key));
  if (known instanceof z.ZodArray) return typeof key === 'number' ? [known.element as z.ZodType] : [];
  if (known instanceof z.ZodRecord) return [known.valueType as z.ZodType];
  if (!(known instanceof z.ZodObject)) return [];
  const shape = known.shape as Record<string, z.ZodType>;
  return Object.hasOwn(shape, key) ? [shape[key]!] : [];
}

/** Names that a schema has directly below it. */
export function namesOf(schema: z.ZodType): string[] {
  const known = unwrapped(schema);
  if (known instanceof z.ZodUnion) return known.options.flatMap((option) => namesOf(option as z.ZodType));
  return known instanceof z.ZodObject ? Object.keys(known.shape) : [];
}

type Listed = string | number | boolean;

/** The values of a list, each once; undefined where they are too many to name. */
export function fewValues(values: readonly unknown[] | undefined): Listed[] | undefined {
  if (!values || values.length > ALLOWED_MAX) return undefined;
  return [...new Set(values.filter((value) => /string|number|boolean/.test(typeof value)))] as Listed[];
}

/** Every value that a schema accepts, if these are few; undefined if they are not listed. */
export const closedList = (schema: z.ZodType): Listed[] | undefined => fewValues(listed(schema));

function listed(schema: z.ZodType): unknown[] | undefined {
  const said = schema.meta() as { enum?: unknown[]; items?: { enum?: unknown[] }; type?: string } | undefined;
  const words = said?.enum ?? said?.items?.enum;
  if (words) return words.filter((word) => word !== null);
  if (said?.type === 'boolean' || schema instanceof z.ZodBoolean) return [true, false];
  if (schema instanceof z.ZodEnum) return schema.options;
  if (schema instanceof z.ZodLiteral) return [...schema.values].filter((value) => value !== null);
  if (schema instanceof z.ZodUnion) {
    const lists = schema.options
      .filter((option) => !(option instanceof z.ZodNull))
      .map((option) => listed(option as z.ZodType));
    return lists.every((list) => list !== undefined) ? lists.flat() : undefined;
  }
  if (schema instanceof z.ZodPipe)
    return listed((schema.in instanceof z.ZodTransform ? schema.out : schema.in) as z.ZodType);
  const inner = innerOf(schema);
  return inner && listed(inner);
}
