import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseEvent } from '../../src/areas/usage/events/parse-event.ts';
import { extractUsage, type UsageInput } from '../../src/engine/ai/extract-usage.ts';
import { BODY_EXAMPLES } from '../../src/ingress/body-examples/body-examples.ts';
import { rowFor, WORDS } from '../../src/ingress/field-words/words.ts';
import { unknownFields } from '../../src/ingress/ignored-fields.ts';
import { openApiDocument } from '../../src/ingress/openapi.ts';
import { operations } from '../../src/operations.ts';

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  [part: string]: unknown;
}
interface Described {
  operationId: string;
  parameters?: { name: string; in: string; description?: string }[];
  requestBody?: {
    content: {
      'application/json'?: { schema: { $ref: string }; example?: object };
      'application/x-ndjson'?: { schema: { $ref: string }; example: string };
    };
  };
  responses: Record<string, { content?: { 'application/json': { schema: Schema } } }>;
}

const document = openApiDocument(operations, { url: '/api/v1', version: '1.0.0' }) as {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
};
const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const jsonOf = ({ requestBody }: Described) => requestBody?.content['application/json'];
const shownOperations = operations.filter(({ hidden }) => !hidden);

interface Field {
  path: string[];
  description: string | undefined;
}

/** Fields of a schema; `path` begins with the operation, or with the name of a shared part. */
function fieldsOf(schema: Schema, path: string[], seen: ReadonlySet<string> = new Set()): Field[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1)!;
    if (seen.has(name)) return [];
    const own = /(?:Input|Answer)(?:Part\d+)?$/.test(name) ? path : [name];
    return fieldsOf(document.components.schemas[name]!, own, new Set([...seen, name]));
  }
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    { path: [...path, name], description: field.description },
    ...fieldsOf(field, [...path, name], seen),
  ]);
  const parts = ['anyOf', 'oneOf', 'allOf', 'items', 'additionalProperties']
    .flatMap((key) => schema[key] ?? [])
    .filter((part) => typeof part === 'object') as Schema[];
  return [...below, ...parts.flatMap((part) => fieldsOf(part, path, seen))];
}

const bodyFields = all.flatMap((operation) => {
  const schema = jsonOf(operation)?.schema;
  return schema ? fieldsOf(schema, [operation.operationId]) : [];
});

test('every field that a request may hold says what it means', () => {
  const wordless = bodyFields.filter(({ description }) => !description).map(({ path }) => path.join('.'));
  expect([...new Set(wordless)]).toEqual([]);
  expect(bodyFields.length).toBeGreaterThan(1_000);
});

test('every parameter says what it means', () => {
  const wordless = all.flatMap(({ operationId, parameters }) =>
    (parameters ?? []).filter(({ description }) => !description).map(({ name }) => `${operationId} ${name}`),
  );
  expect(wordless).toEqual([]);
});

test('words are short: one sentence or two, without a full stop', () => {
  const words = Object.values(WORDS).flatMap((table) => Object.entries(table));
  expect(words.filter(([, text]) => text.length > 140 || /[.\s]$/.test(text))).toEqual([]);
});

test('every row of the words is the meaning of some field', () => {
  const answerFields = all.flatMap(({ operationId, responses }) => {
    const schema = responses[200]?.content?.['application/json']?.schema;
    return schema ? fieldsOf(schema, [operationId]) : [];
  });
  const parameters = all.flatMap(({ operationId, parameters }) =>
    (parameters ?? []).map(({ name }) => ({ path: [operationId, name.replace('[]', '')] })),
  );
  const unused = (words: Record<string, string>, fields: readonly { path: string[] }[]) => {
    const used = new Set(fields.map(({ path }) => rowFor(words, path)));
    return Object.keys(words).filter((key) => !used.has(key));
  };
  expect({
    body: unused(WORDS.body, bodyFields),
    parameter: unused(WORDS.parameter, parameters),
    answer: unused(WORDS.answer, answerFields),
  }).toEqual({ body: [], parameter: [], answer: [] });
});

test('every operation with a body shows one, and no other has an example', () => {
  const isText = new Set(shownOperations.filter(({ readsOwnBody }) => readsOwnBody).map(({ name }) => name));
  const bodied = all.filter((each) => jsonOf(each) && !isText.has(each.operationId));
  expect(Object.keys(BODY_EXAMPLES).sort()).toEqual(bodied.map(({ operationId }) => operationId).sort());
  for (const operation of bodied) expect(jsonOf(operation)!.example, operation.operationId).toBeDefined();
});

test('every operation that reads a body describes it, lines of events too', () => {
  const reading = shownOperations.filter(({ body, readsOwnBody }) => body !== undefined || readsOwnBody !== undefined);
  const described = all.filter(({ requestBody }) => requestBody !== undefined);
  expect(described.map(({ operationId }) => operationId).sort()).toEqual(reading.map(({ name }) => name).sort());
  const bulk = all.find(({ operationId }) => operationId === 'createBulkEvents')!.requestBody!.content;
  expect(Object.keys(bulk)).toEqual(['application/x-ndjson']);
  const { schema, example } = bulk['application/x-ndjson']!;
  expect(document.components.schemas[schema.$ref.split('/').at(-1)!]).toMatchObject({ type: 'string' });
  const lines = example.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(parseEvent(JSON.parse(line))).toMatchObject({ ok: true });
});

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(document, 'api');

test.each(Object.entries(BODY_EXAMPLES))('the example of %s is accepted, by the description too', (name, example) => {
  const operation = shownOperations.find((each) => each.name === name)!;
  const { schema } = jsonOf(all.find(({ operationId }) => operationId === name)!)!;
  const validate = ajv.compile({ $ref: `api${schema.$ref}` });
  expect(validate(example), JSON.stringify(validate.errors)).toBe(true);

  if (operation.kind === 'events') {
    const { event, events, ai_usage, ai_usages } = example as Record<string, UsageInput & UsageInput[]>;
    for (const each of operation.holdsUsage ? [] : (events ?? [event]))
      expect(parseEvent(each)).toMatchObject({ ok: true });
    for (const each of operation.holdsUsage ? (ai_usages ?? [ai_usage]) : [])
      expect(extractUsage(each!, '2026-03-01T00:00:00Z')).toMatchObject({ ok: true });
  } else {
    const whole = operation.root === undefined ? operation.body! : z.object({ [operation.root]: operation.body! });
    const read = whole.safeParse(example);
    expect(read.error?.issues ?? []).toEqual([]);
  }
  expect(unknownFields(operation, example)).toEqual([]);
});
