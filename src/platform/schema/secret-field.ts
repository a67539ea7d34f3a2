import type { z } from 'zod';

const secretFields = new WeakSet<object>();
const known = new WeakMap<object, boolean>();

/** Marks an input field as secret: the input travels sealed, and no queue, log or board shows it. */
export function secret<Field extends z.ZodType>(field: Field): Field {
  secretFields.add(field);
  return field;
}

/** Whether a schema has a field that is marked as secret, at any depth. */
export function holdsSecret(schema: z.ZodType | undefined): boolean {
  if (schema === undefined) return false;
  let answer = known.get(schema);
  if (answer === undefined) {
    answer = search(schema, new Set());
    known.set(schema, answer);
  }
  return answer;
}

/** Searches all parts of a schema: shapes, items, options, and wrapped schemas. */
function search(part: unknown, seen: Set<object>): boolean {
  if (typeof part !== 'object' || part === null || seen.has(part)) return false;
  seen.add(part);
  if (secretFields.has(part)) return true;
  const definition = (part as { _zod?: { def: object } })._zod?.def;
  return Object.values(definition ?? (isPlain(part) ? part : {})).some((inner) => search(inner, seen));
}

const isPlain = (value: object): boolean =>
  Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
