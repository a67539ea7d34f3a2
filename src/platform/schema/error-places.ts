import { z } from 'zod';
import { own } from '../../engine/own.ts';
import type { FoundPlace, Path } from '../found-places.ts';
import { queryFields } from '../lists/query-fields.ts';
import type { Operation } from '../operation.ts';
import type { Refusal } from '../refusal.ts';
import { INVALID, MANDATORY } from './fields.ts';
import { closedList, fewValues, namesOf, schemasUnder } from './schema-parts.ts';

/** How many places one answer names: as many as issues are reported. */
const PLACES_MAX = 100;
/** How many parts of an input are searched for a name: a plan of 500 charges has as many. */
const PARTS_MAX = 5000;
/** How many characters a path may have, because names chosen by clients may be long. */
const PATH_MAX = 500;
/** Codes that a listed value can have too, so that they do not list accepted values. */
const NOT_OF_THE_LIST = new Set(['value_is_frozen', 'value_already_exist', 'value_must_be_blank']);

/**
 * Places of the codes of `error_details` in a request: from the root of the body, `plan.charges[4].charge_model`, or of
 * the query, `query.status`; accepted values, if these are few; and the reason of a refusal, if its code has several
 * causes.
 */
export const ErrorPlaces = z
  .array(
    z.object({
      path: z.string().max(PATH_MAX),
      code: z.string(),
      allowed: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
      reason: z.string().optional(),
    }),
  )
  .max(PLACES_MAX);
export type ErrorPlace = z.output<typeof ErrorPlaces>[number];

/** The input of a request: the content of the body's root, and the query. */
interface Input {
  body?: unknown;
  query?: unknown;
}

interface Part {
  path: Path;
  schemas: z.ZodType[];
  value: unknown;
}

/**
 * The body of a refusal, with `error_places` beside `error_details` if validation failed: the place of each code as far
 * as it is known. The refusing code names the places; otherwise a code is searched by the name of its field, and if
 * several parts of the input have that field, their list is named. A missing value is `value_is_mandatory` here,
 * whatever code its field has in `error_details`.
 */
export function bodyWithPlaces(operation: Operation, input: Input, refusal: Refusal): Record<string, unknown> {
  const { body, places } = refusal;
  if (body.code !== 'validation_errors') return body;
  const told = withinLimits(placesOfDetails(operation, input, body.error_details as object, places));
  return told.length === 0 ? body : { ...body, error_places: told };
}

function placesOfDetails(
  operation: Operation,
  input: Input,
  details: object,
  places: readonly FoundPlace[],
): ErrorPlace[] {
  const whole = wholeOf(operation, input);
  const found = new Set<string>();
  const known = places.flatMap((place) => {
    const told = toldPlace(operation, whole, input, place);
    if (told) found.add(place.field);
    return told ?? [];
  });
  const rest = Object.entries(details).filter(([field]) => !found.has(field));
  return [...known, ...rest.flatMap(([field, codes]) => placesByName(operation, whole, { input, field, codes }))];
}

/** The body as a client sends it: in documented form, else by its root and content. */
function wholeOf({ root, body, documentedBody }: Operation, { body: value }: Input): Part {
  const read = body && (root === undefined ? body : z.object({ [root]: body }));
  const schema = documentedBody ?? read;
  const sent = root === undefined ? value : { [root]: value };
  const whole: Part = { path: [], schemas: schema ? [schema] : [], value: sent };
  if (root !== undefined || !isObject(value)) return whole;
  // An operation that declares no root may still remove one from its body, so the body is also placed under every
  // object field that it lacks.
  const roots = fieldsOf(whole).filter(
    (name) => !Object.hasOwn(value, name) && fieldsOf(childOf(whole, name)!).length > 0,
  );
  return { ...whole, value: { ...Object.fromEntries(roots.map((name) => [name, value])), ...value } };
}

function toldPlace(operation: Operation, whole: Part, input: Input, { path, code, ...place }: FoundPlace) {
  const part = place.isQuery ? partOfQuery(operation, input, path) : follow(contentWith(operation, whole, path), path);
  // The whole body is not a place, so the field is searched by its name.
  if (!part || part.path.length === 0) return undefined;
  const { reason } = place;
  return { ...placeOf(part, code, place.allowed), ...(reason === undefined ? {} : { reason }) };
}

/** Beginning of a reported path: the content of the root, if there is one. */
function contentWith({ root }: Operation, whole: Part, [first]: Path): Part {
  if (root !== undefined) return childOf(whole, root)!;
  const isIn = (part: Part) => fieldsOf(part).includes(String(first));
  return isIn(whole) ? whole : (childrenOf(whole).find(isIn) ?? whole);
}

function placesByName(
  operation: Operation,
  whole: Part,
  { input, field, codes }: { input: Input; field: string; codes: unknown },
): ErrorPlace[] {
  if (!Array.isArray(codes)) return placesOfElement(whole, field, codes);
  const path = field.split(/[.:]/).map((name) => (/^\d+$/.test(name) ? Number(name) : name));
  const inQuery = partOfQuery(operation, input, [field]);
  const isOfQuery = inQuery.schemas.length > 0 || inQuery.value !== undefined;
  const part = partNamed(whole, path) ?? (isOfQuery ? inQuery : undefined);
  return part ? codes.filter((code) => typeof code === 'string').map((code) => placeOf(part, code)) : [];
}

/** Errors of a list's elements by index: `{"3": {code: […]}}`, or with what was sent, `{"3": {params, errors}}`. */
function placesOfElement(whole: Part, index: string, found: unknown): ErrorPlace[] {
  const list = [whole, ...childrenOf(whole)].find(({ value, schemas }) => Array.isArray(value) || schemas.some(isList));
  const element = list && /^\d+$/.test(index) && childOf(list, Number(index));
  if (!element || typeof found !== 'object' || found === null) return [];
  const errors = (found as { errors?: object }).errors ?? found;
  return Object.entries(errors).flatMap(([field, codes]) => {
    const part = follow(element, field.split(/[.:]/));
    return part && Array.isArray(codes) ? codes.map((code) => placeOf(part, String(code))) : [];
  });
}

const isList = (schema: z.ZodType): boolean => schema instanceof z.ZodArray;

function partOfQuery(operation: Operation, { query }: Input, path: Path): Part {
  const fields = queryFields(operation) ?? {};
  const name = String(path[0]);
  const field = own(fields, name);
  return { path: ['query', ...path], schemas: field ? [field] : [], value: valueAt(query, path) };
}

/** `known`: values that the failed check would have taken; those that the description lists come first. */
function placeOf(part: Part, code: string, known?: readonly unknown[]): ErrorPlace {
  const allowed = listOf(part) ?? known;
  const { path, value } = codeNamesField(part, code);
  const isMissing = code === INVALID && (value === undefined || value === null || value === '');
  const few = NOT_OF_THE_LIST.has(code) ? undefined : fewValues(allowed);
  return { path: pathText(path), code: isMissing ? MANDATORY : code, ...(few ? { allowed: few } : {}) };
}

const listOf = ({ schemas }: Part): unknown[] | undefined => schemas.map(closedList).find((list) => list !== undefined);

/** `invalid_rate` of an object with a `rate` refers to that rate. */
function codeNamesField(part: Part, code: string): Part {
  const name = code.replace(/^invalid_/, '');
  const isNamed = name !== code && isObject(part.value) && Object.hasOwn(part.value, name);
  return isNamed ? childOf(part, name)! : part;
}

/** The longest part of a path that the input or its schema has; undefined if there is none. */
function follow(from: Part, path: Path): Part | undefined {
  let part = from;
  for (const key of path) {
    const next = childOf(part, key);
    if (!next) break;
    part = next;
  }
  return part === from && path.length > 0 ? undefined : part;
}

function childOf({ path, schemas, value }: Part, key: string | number): Part | undefined {
  const index = Array.isArray(value) && /^\d+$/.test(String(key)) ? Number(key) : key;
  const below = schemas.flatMap((schema) => schemasUnder(schema, index));
  const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, index);
  if (below.length === 0 && !isThere) return undefined;
  return { path: [...path, index], schemas: below, value: valueAt(value, [index]) };
}

/** The direct parts whose names are ours; names chosen by clients are not fields. */
function childrenOf(part: Part): Part[] {
  const keys = Array.isArray(part.value) ? part.value.slice(0, PARTS_MAX).map((_, index) => index) : fieldsOf(part);
  return keys.flatMap((key) => childOf(part, key) ?? []);
}

const fieldsOf = ({ schemas }: Part): string[] => [...new Set(schemas.flatMap(namesOf))];

/**
 * The part with this name nearest to the root if it is the only one at its depth, else the innermost part that contains
 * all of them.
 */
function partNamed(whole: Part, path: Path): Part | undefined {
  let level = [whole];
  for (let seen = 0; level.length > 0 && seen < PARTS_MAX; seen += level.length) {
    const hits = level
      .filter((part) => fieldsOf(part).includes(String(path[0])))
      .flatMap((part) => follow(part, path)!);
    if (hits.length === 1) return hits[0];
    if (hits.length > 1) return holderOf(whole, hits);
    level = childrenWithin(level, PARTS_MAX - seen);
  }
  return undefined;
}

/** At most as many children as remain to be searched, so that a level is not built before it is counted. */
function childrenWithin(level: readonly Part[], most: number): Part[] {
  const children: Part[] = [];
  for (const part of level) {
    if (children.length >= most) break;
    children.push(...childrenOf(part));
  }
  return children;
}

function holderOf(whole: Part, parts: readonly Part[]): Part | undefined {
  const [first, ...others] = parts.map(({ path }) => path);
  const shared = first!.findIndex((key, index) => others.some((path) => path[index] !== key));
  return shared < 1 ? undefined : follow(whole, first!.slice(0, shared));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? own(at as Record<string, unknown>, String(key)) : undefined),
    value,
  );

const PLAIN = /^[A-Za-z_][\w-]*$/;

/** `charges[4].properties.rate`; a name that is not a plain word is in brackets, `properties["my key"]`. */
export function pathText(path: Path): string {
  const text = path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      if (!PLAIN.test(key)) return `[${JSON.stringify(key)}]`;
      return index === 0 ? key : `.${key}`;
    })
    .join('');
  return text.slice(0, PATH_MAX).toWellFormed();
}

function withinLimits(places: readonly ErrorPlace[]): ErrorPlace[] {
  const once = new Map<string, ErrorPlace>();
  for (const place of places) {
    if (once.size >= PLACES_MAX) break;
    once.set(`${place.path} ${place.code}`, place);
  }
  return [...once.values()];
}
