import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { WEBHOOK_TYPES } from '../../../src/areas/messaging/webhook-endpoints/event-types.ts';
import { CHARGE_MODELS } from '../../../src/engine/pricing/charge-models.ts';
import { answerExamples } from '../../../src/ingress/body-examples/answer-examples.ts';
import { openApiDocument } from '../../../src/ingress/openapi.ts';
import { withNamedParts } from '../../../src/ingress/openapi-components.ts';
import { operations } from '../../../src/operations.ts';
import { NAMED_ONLY_WEBHOOK_TYPES } from '../../../src/platform/records/write-records.ts';

// The API description as it is served. Rule: documentation.md#description.
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const whole = openApiDocument(operations, { url: '/api/v1', version: '1.0.0' }) as { [key: string]: Json };
const served = withNamedParts(whole) as {
  paths: Record<
    string,
    Record<
      string,
      { operationId: string; description: string; parameters: Json[]; responses: { [status: string]: Json } }
    >
  >;
  webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: Json }> } } }>;
  components: {
    schemas: Record<string, { properties?: Record<string, Json>; anyOf?: { title?: string }[] }>;
    parameters: Record<string, { description?: string }>;
    headers: object;
  };
};
const text = JSON.stringify(served);
/** Most bytes of all schemas together. */
const SCHEMAS_BYTES = 900_000;

test('a validator that others wrote finds no fault in the API description (CO41)', async () => {
  const rules = [
    'struct',
    'no-unresolved-refs',
    'no-unused-components',
    'no-identical-paths',
    'path-parameters-defined',
    'operation-operationId-unique',
    'operation-description',
    'parameter-description',
    'tag-description',
    'security-defined',
    'spec-components-invalid-map-name',
    'no-invalid-media-type-examples',
    'no-invalid-schema-examples',
  ];
  const config = await createConfig({ rules: Object.fromEntries(rules.map((rule) => [rule, 'error'])) });
  const faults = await lintFromString({ source: text, absoluteRef: 'openapi.json', config });
  expect(faults.map(({ ruleId, message, location: [at] }) => `${ruleId} ${at?.pointer}: ${message}`)).toEqual([]);
});

test('the validator finds what is wrong', async () => {
  const broken = text.replace('"#/components/schemas/Error"', '"#/components/schemas/None"');
  const config = await createConfig({ rules: { 'no-unresolved-refs': 'error' } });
  expect(await lintFromString({ source: broken, absoluteRef: 'openapi.json', config })).toHaveLength(1);
});

/** A part with everything that it refers to in its place; a record that holds itself ends at its name. */
function unfolded(value: Json, components: Json, seen: readonly string[] = []): Json {
  if (Array.isArray(value)) return value.map((each) => unfolded(each, components, seen));
  if (typeof value !== 'object' || value === null) return value;
  const reference = value.$ref;
  if (typeof reference === 'string') {
    if (seen.includes(reference)) return '…';
    const [, , kind, name] = reference.split('/') as [string, string, string, string];
    const part = (components as Record<string, Record<string, Json>>)[kind]![name]!;
    return unfolded(part, components, [...seen, reference]);
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unfolded(inner, components, seen)]));
}

test('naming the parts of the API description changes nothing that it says', () => {
  const named = served as unknown as { [key: string]: Json };
  for (const part of ['paths', 'webhooks'])
    for (const [name, value] of Object.entries(whole[part] as Record<string, Json>))
      expect(unfolded((named[part] as Record<string, Json>)[name]!, named.components!), name).toEqual(
        unfolded(value, whole.components!),
      );
});

test('records have names, from which generators make types', () => {
  const { schemas, parameters, headers } = served.components;
  const records = ['Customer', 'Plan', 'Subscription', 'Invoice', 'Fee', 'CreditNote', 'Wallet', 'Payment', 'Coupon'];
  for (const name of records) expect(Object.keys(schemas[name]?.properties ?? {}), name).toContain('svc_id');
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['CustomerInput', 'PlanInput', 'SubscriptionInput']));
  expect(Object.keys(parameters)).toEqual(
    expect.arrayContaining(['IdempotencyKeyHeader', 'XRequestIdHeader', 'XSvcExplainHeader', 'PageQuery']),
  );
  expect(Object.keys(headers)).toEqual(
    expect.arrayContaining(['RateLimit', 'RateRemaining', 'RateReset', 'RequestId', 'RetryAfter']),
  );
  expect(JSON.stringify(schemas).length).toBeLessThan(SCHEMAS_BYTES);
});

test('charge properties are typed for the 7 models that are offered (CO41)', () => {
  // The last form is that of a charge without prices, which takes the defaults of its model.
  const titles = served.components.schemas.ChargeProperties!.anyOf!.map(({ title }) => title);
  expect(titles).toEqual([...CHARGE_MODELS.filter((model) => model !== 'custom'), 'empty']);
  expect(titles).toHaveLength(7 + 1);
});

test('an operation with a body shows an answer, unless its example is refused here or it answers no JSON (CO41)', () => {
  const answers = answerExamples();
  const shown = Object.values(served.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ responses }) => JSON.stringify(responses['200'] ?? {}).includes('"example":'))
    .map(({ operationId }) => operationId);
  expect(shown.sort()).toEqual(Object.keys(answers).sort());
  expect(shown.length).toBeGreaterThan(100);
});

test('a key for repeating is a parameter of every write, and of no read', () => {
  const takes = Object.values(served.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ parameters }) => JSON.stringify(parameters ?? []).includes('IdempotencyKeyHeader'))
    .map(({ operationId }) => operationId);
  const writes = operations.filter(
    ({ kind, hidden, ignoresIdempotencyKey }) => kind !== 'read' && !hidden && !ignoresIdempotencyKey,
  );
  expect(takes.sort()).toEqual(writes.map(({ name }) => name).sort());
});

test('every type of event that an endpoint may choose is described with its payload', () => {
  for (const type of [...WEBHOOK_TYPES, ...NAMED_ONLY_WEBHOOK_TYPES]) {
    const { schema } = served.webhooks[type]!.post.requestBody.content['application/json']!;
    const { required, properties } = schema as { required: string[]; properties: Record<string, Json> };
    expect(required.slice(0, 3)).toEqual(['webhook_type', 'object_type', 'organization_id']);
    expect(properties[required[3]!], type).toBeDefined();
  }
  expect(JSON.stringify(served.webhooks['customer.created'])).toContain('#/components/schemas/Customer');
  expect(JSON.stringify(served.webhooks['invoice.created'])).toContain('#/components/schemas/Invoice');
});
