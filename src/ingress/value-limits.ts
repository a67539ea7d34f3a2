import type { z } from 'zod';
import { MOST_VALUES } from '../platform/json/json-shape.ts';
import type { Operation } from '../platform/operation.ts';

/** How many commas and brackets an ordinary body may have; the largest record without lists has a few hundred. */
export const FEW_VALUES = 4000;
/**
 * Commas and brackets of a body with long lists, such as a plan with charges and filters: 10 000 filters with a price
 * and a value each. Measured: JSON of so many takes 8 ms to parse.
 */
export const MANY_VALUES = 50_000;
/** Members assumed for an element of a list that is read by special rules. */
const MEMBERS_OF_ELEMENT = 20;
/** A value of any form with fewer elements counts as a word, a number or a short list. */
const LIST_OF_RECORDS = 100;

interface Definition {
  type: string;
  /** Sizes of a list, a record and a value of any form made by platform/schema/bounded.ts. */
  most?: number;
  element?: z.ZodType;
  valueType?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
  options?: z.ZodType[];
  shape?: Record<string, z.ZodType>;
}

/** Commas and brackets that a body of an operation may hold, by its schema, between few and many. */
export function mostValuesOf({ kind, body }: Operation): number {
  if (kind === 'events') return MOST_VALUES;
  if (!body) return FEW_VALUES;
  let most = known.get(body);
  if (most === undefined) {
    most = valuesIn(body) > FEW_VALUES ? MANY_VALUES : FEW_VALUES;
    known.set(body, most);
  }
  return most;
}

/** Schemas whose sizes are known. */
const known = new WeakMap<z.ZodType, number>();

/** Number of values in the fullest body that a schema accepts, containers included. */
export function valuesIn(schema: z.ZodType): number {
  const definition = schema._zod.def as unknown as Definition;
  const { type, most = 1, element, valueType, innerType, options, shape } = definition;
  switch (type) {
    case 'array':
      return 1 + most * valuesIn(element!);
    case 'record':
      return 1 + most * valuesIn(valueType!);
    case 'object':
      return Object.values(shape!).reduce((sum, each) => sum + valuesIn(each), 1);
    case 'union':
      return Math.max(...options!.map(valuesIn));
    case 'pipe':
      return Math.max(valuesIn(definition.in!), valuesIn(definition.out!));
    case 'unknown':
      return 1 + (most < LIST_OF_RECORDS ? most : most * MEMBERS_OF_ELEMENT);
    default:
      return innerType ? valuesIn(innerType) : 1;
  }
}
