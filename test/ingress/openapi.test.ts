import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/ingress/openapi.ts';
import { operations } from '../../src/operations.ts';

interface Shape {
  $ref?: string;
  properties?: Record<string, Shape>;
  required?: string[];
  items?: Shape;
}
interface Document {
  openapi: string;
  paths: Record<
    string,
    Record<string, { operationId: string; requestBody?: { content: { 'application/json': { schema: Shape } } } }>
  >;
}

const document = openApiDocument(operations, { url: '/api/v1', version: '1.0.0' }) as Document;
const {
  components: { schemas: components },
} = document as unknown as { components: { schemas: Record<string, Shape> } };
const bodyOf = (method: string, path: string) => {
  const schema = document.paths[path]?.[method]?.requestBody?.content['application/json'].schema;
  return schema && components[schema.$ref!.split('/').at(-1)!];
};

test('the document of all operations can be made and shows each of them', () => {
  expect(document.openapi).toBe('3.1.0');
  const shown = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map((row) => row.operationId),
  );
  expect(shown.sort()).toEqual(
    operations
      .filter((operation) => !operation.hidden)
      .map((operation) => operation.name)
      .sort(),
  );
});

test('every body is shown with its root key', () => {
  for (const operation of operations) {
    if (operation.root === undefined || operation.hidden || !operation.body) continue;
    const body = bodyOf(operation.method, operation.path.replace(/:(\w+)/g, '{$1}'));
    expect(Object.keys(body?.properties ?? {}), operation.name).toEqual([operation.root]);
  }
  expect(bodyOf('post', '/events')?.properties?.event?.required).toEqual([
    'transaction_id',
    'external_subscription_id',
    'code',
  ]);
  expect(bodyOf('post', '/events/batch')?.properties?.events?.items?.properties).toHaveProperty('transaction_id');
  expect(bodyOf('post', '/subscriptions')?.properties?.subscription?.required).toEqual([
    'external_customer_id',
    'plan_code',
    'external_id',
  ]);
  expect(bodyOf('put', '/subscriptions/{external_id}')?.properties).toHaveProperty('subscription');
});

const text = JSON.stringify(document);

test('every reference leads to a component', () => {
  const references = [...new Set(text.match(/"\$ref":"[^"]+"/g))].map((each) => each.slice('"$ref":"'.length, -1));
  expect(references.length).toBeGreaterThan(100);
  for (const reference of references) {
    expect(reference).toMatch(/^#\/components\/schemas\/\w+$/);
    expect(Object.keys(components)).toContain(reference.split('/').at(-1));
  }
  expect(text).not.toContain('$defs');
});

interface QueryParameter {
  in: string;
  name: string;
  schema: { type: string; items?: { enum?: string[] }; enum?: string[] };
  style?: string;
}
const operationOf = (name: string) =>
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .find(({ operationId }) => operationId === name) as unknown as {
    parameters: QueryParameter[];
    description: string;
    tags: string[];
  };
const parameterOf = (operation: string, name: string) =>
  operationOf(operation).parameters.find((each) => each.in === 'query' && each.name === name);

test.each([
  ['findAllPlans', 'page', 'integer'],
  ['findAllPlans', 'per_page', 'integer'],
  ['findAllInvoices', 'billing_entity_codes[]', 'array'],
  ['findAllInvoices', 'statuses[]', 'array'],
  ['findAllInvoices', 'status', 'string'],
  ['findAllInvoices', 'metadata', 'object'],
  ['findAllInvoices', 'amount_from', 'integer'],
  ['findAllInvoices', 'issuing_date_from', 'string'],
  ['findAllInvoices', 'payment_overdue', 'boolean'],
  ['findAllCustomers', 'currencies[]', 'array'],
  ['findAllSubscriptions', 'status[]', 'array'],
  ['findCustomerCurrentUsage', 'filter_by_group', 'object'],
])('%s takes %s as %s', (operation, name, type) => {
  expect(parameterOf(operation, name)?.schema.type).toBe(type);
});

test('words that a filter knows are listed', () => {
  expect(parameterOf('findAllInvoices', 'status')?.schema.enum).toContain('finalized');
  expect(parameterOf('findAllInvoices', 'payment_statuses[]')?.schema.items?.enum).toContain('succeeded');
  expect(parameterOf('findAllQuotes', 'status[]')?.schema.items?.enum).toContain('draft');
});

test.each([
  'getSubscriptionAlerts',
  'createSubscriptionAlert',
  'deleteAllSubscriptionAlerts',
  'getSubscriptionAlert',
  'updateSubscriptionAlert',
  'deleteSubscriptionAlert',
])('%s takes the status of the subscription', (operation) => {
  expect(parameterOf(operation, 'subscription_status')?.schema.enum).toContain('active');
});

test('every operation says what it does and what its key needs, under a tag of the document', () => {
  const tags = (document as unknown as { tags: { name: string }[] }).tags.map(({ name }) => name);
  for (const name of operations.filter(({ hidden }) => !hidden).map((operation) => operation.name)) {
    const { description, tags: used } = operationOf(name);
    expect(description, name).toMatch(/\w.*\. (?:The API key needs `|Any API key)/);
    expect(tags).toEqual(expect.arrayContaining(used));
  }
});
