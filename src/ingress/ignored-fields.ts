import { z } from 'zod';
import { pageQuery } from '../platform/lists/pagination.ts';
import { queryFields } from '../platform/lists/query-fields.ts';
import type { Operation } from '../platform/operation.ts';
import { namesOf, schemasUnder, unwrapped } from '../platform/schema/schema-parts.ts';
import type { Query } from './read-query.ts';

/** How many names one answer lists, and how many characters of each: enough to find the mistake. */
const MOST_NAMES = 20;
const NAME_MAX = 100;

/**
 * Parameters of a query that an operation does not know, by the names they were sent with, where a misspelt one
 * changes what is answered or done: of lists, of every write, and of every read that takes some.
 *
 * sent, query  the same parameters in the same order, before and after the wire prefix was translated
 */
export function unknownFilters(operation: Operation, sent: Query, query: Query): string[] {
  const names = Object.keys(sent);
  const fields = names.length === 0 ? undefined : (knownFilters(operation) ?? (isWrite(operation) ? {} : undefined));
  if (!fields) return [];
  return Object.keys(query).flatMap((name, index) => (Object.hasOwn(fields, name) ? [] : [names[index]!]));
}

/**
 * Whether an unknown parameter of a query is refused, and not only named in a header. A write that takes parameters
 * would do more than was asked for, or store events that were sent to be looked at. In a sandbox every misspelt one is
 * a mistake to be found; elsewhere a client that reads may be newer than this service. Rule:
 * lists.md#filters-and-order.
 */
export const refusesUnknownFilters = (operation: Operation, sandbox: boolean): boolean =>
  sandbox || (isWrite(operation) && knownFilters(operation) !== undefined);

const isWrite = ({ kind }: Operation): boolean => kind === 'command' || kind === 'events';

const knownFilters = (operation: Operation): Record<string, z.ZodType> | undefined =>
  queryFields(operation) ?? (answersList(operation) ? pageQuery : undefined);

const answersList = ({ method, answer }: Operation): boolean =>
  method === 'get' && answer instanceof z.ZodObject && Object.values(answer.shape).some(isArray);

const isArray = (schema: unknown): boolean => schema instanceof z.ZodArray;

/**
 * Paths of unknown fields in a body, below the root if it has one: `charges[4].nmae`. A part that accepts anything has
 * no unknown fields.
 */
export function unknownFields({ root, body, documentedBody }: BodyOfOperation, sent: unknown): string[] {
  if (!body) return [];
  if (root !== undefined) {
    const schemas = documentedBody ? schemasUnder(documentedBody, root) : [body];
    return unknownBelow(schemas, isObject(sent) ? sent[root] : undefined, '');
  }
  // A body that removes its root itself also accepts the fields without root.
  const others = documentedBody ? namesOf(body) : [];
  return unknownBelow([documentedBody ?? body], sent, '').filter((path) => !others.includes(path));
}

type BodyOfOperation = Pick<Operation, 'root' | 'body' | 'documentedBody'>;

function unknownBelow(schemas: readonly z.ZodType[], value: unknown, path: string): string[] {
  const forms = schemas.length === 1 ? formsOf(schemas[0]!) : schemas.flatMap(formsOf);
  if (Array.isArray(value)) {
    const elements = forms.flatMap((form) => (form instanceof z.ZodArray ? [form.element as z.ZodType] : []));
    const found: string[] = [];
    for (let index = 0; index < value.length && found.length < MOST_NAMES; index += 1)
      found.push(...unknownBelow(elements, value[index], `${path}[${index}]`));
    return found;
  }
  const objects = forms.filter((form) => form instanceof z.ZodObject);
  if (objects.length === 0 || !isObject(value) || forms.some(takesAnyObject)) return [];
  const found: string[] = [];
  for (const name of Object.keys(value)) {
    const known = objects.flatMap(({ shape }) => (Object.hasOwn(shape, name) ? [shape[name] as z.ZodType] : []));
    const inner = value[name];
    if (known.length > 0 && (typeof inner !== 'object' || inner === null)) continue;
    const at = path === '' ? name : `${path}.${name}`;
    if (known.length === 0) found.push(at);
    else found.push(...unknownBelow(known, inner, at));
  }
  return found;
}

const knownForms = new WeakMap<z.ZodType, readonly z.ZodType[]>();

/** A schema without its wrappers, or each of its alternatives; found once, because every body is held against them. */
function formsOf(schema: z.ZodType): readonly z.ZodType[] {
  const found = knownForms.get(schema) ?? findForms(schema);
  knownForms.set(schema, found);
  return found;
}

function findForms(schema: z.ZodType): readonly z.ZodType[] {
  const known = unwrapped(schema);
  return known instanceof z.ZodUnion ? known.options.flatMap((option) => formsOf(option as z.ZodType)) : [known];
}

const takesAnyObject = (form: z.ZodType): boolean =>
  form instanceof z.ZodObject
    ? form.def.catchall !== undefined
    : form instanceof z.ZodUnknown || form instanceof z.ZodAny || form instanceof z.ZodRecord;

/** The value of the warning header: visible characters only. */
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
