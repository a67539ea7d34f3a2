import { expect, test } from 'vitest';
import { unknownFields } from '../../src/ingress/ignored-fields.ts';
import { openApiDocument } from '../../src/ingress/openapi.ts';
import { operations } from '../../src/operations.ts';

// Every body of the API description, with a field that nobody knows in each of its objects: newcomer's misspelling.
interface Shape {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Shape>;
  items?: Shape;
  anyOf?: Shape[];
  additionalProperties?: unknown;
}
interface Described {
  operationId: string;
  requestBody?: { content: { 'application/json'?: { schema: Shape } } };
}
const document = openApiDocument(operations, { url: '/api/v1', version: '1' }) as {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Shape> };
};
const bodies = new Map(
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId, requestBody }) => [operationId, requestBody?.content['application/json']?.schema]),
);

const MISSPELT = 'nmae';
/** Deeper objects are those of a component that refers to itself. */
const DEEPEST = 12;

/** A body of this shape, and the paths of the fields that are added to its objects of fixed names. */
function sampleOf(shape: Shape, path: string, added: string[], depth = 0): unknown {
  const { $ref, properties, items, anyOf, additionalProperties } = shape;
  if (depth > DEEPEST) return null;
  if ($ref) return sampleOf(document.components.schemas[$ref.split('/').at(-1)!]!, path, added, depth + 1);
  if (properties) {
    const fields = Object.entries(properties).map(([name, inner]) => {
      const at = path === '' ? name : `${path}.${name}`;
      return [name, sampleOf(inner, at, added, depth + 1)];
    });
    if (additionalProperties !== undefined) return Object.fromEntries(fields);
    added.push(path === '' ? MISSPELT : `${path}.${MISSPELT}`);
    return { ...Object.fromEntries(fields), [MISSPELT]: 1 };
  }
  if (items) return [sampleOf(items, `${path}[0]`, added, depth + 1)];
  const parts = (anyOf ?? []).filter((each) => each.properties || each.items || each.$ref || each.anyOf);
  return parts.length === 0 || additionalProperties !== undefined ? null : sampleOf(parts[0]!, path, added, depth + 1);
}

const written = operations.filter(({ hidden, body, readsOwnBody }) => body && !hidden && !readsOwnBody);

test.each(written.map(({ name }) => name))('%s reports an unknown field at any depth', (name) => {
  const operation = operations.find((each) => each.name === name)!;
  const { root } = operation;
  const whole = bodies.get(name)!;
  const content = root === undefined ? whole : resolved(whole).properties![root]!;
  const added: string[] = [];
  const sample = sampleOf(content, '', added);
  const sent = (content: unknown) => (root === undefined ? content : { [root]: content });
  // Of a list a few names are told, so that each is looked for alone.
  const named = added.filter((path) => unknownFields(operation, sent(only(sample, added, path))).includes(path));
  expect(named).toEqual(added);
  expect(unknownFields(operation, sent(only(sample, added, '')))).toEqual([]);
});

const resolved = (shape: Shape): Shape =>
  shape.$ref ? document.components.schemas[shape.$ref.split('/').at(-1)!]! : shape;

/** The sample without the other added fields. */
function only(sample: unknown, added: readonly string[], kept: string): unknown {
  const copy = structuredClone(sample);
  for (const path of added.filter((each) => each !== kept)) {
    const names = path.split(/[.[\]]+/).filter((name) => name !== '');
    const holder = names.slice(0, -1).reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], copy);
    delete (holder as Record<string, unknown>)[names.at(-1)!];
  }
  return copy;
}
