import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/ingress/openapi.ts';
import { operations } from '../../src/resources/operations.ts';

interface Shape {
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
const bodyOf = (method: string, path: string) =>
  document.paths[path]?.[method]?.requestBody?.content['application/json'].schema;

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
