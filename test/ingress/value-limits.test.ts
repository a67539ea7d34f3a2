import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FEW_VALUES, MANY_VALUES, mostValuesOf, valuesIn } from '../../src/ingress/value-limits.ts';
import { operations } from '../../src/operations.ts';
import { shapeOf } from '../../src/platform/json/json-shape.ts';
import { startService, type TestService } from '../support/service.ts';

const FIELD = 'customer';

describe('limits on the values of a body', () => {
  test.each(operations.filter(({ body, kind }) => body && kind !== 'events').map((each) => [each.name, each] as const))(
    'the fullest body of %s is accepted, or counts as one of many values',
    (_, operation) => {
      const most = mostValuesOf(operation);
      expect([FEW_VALUES, MANY_VALUES]).toContain(most);
      if (most === FEW_VALUES) expect(valuesIn(operation.body!)).toBeLessThanOrEqual(FEW_VALUES);
    },
  );

  test('the limit of values differs by operation', () => {
    const most = (name: string) => mostValuesOf(operations.find((each) => each.name === name)!);
    expect(most('createCustomer')).toBe(4000);
    expect(most('createTax')).toBe(4000);
    expect(most('createPlan')).toBe(50_000);
    expect(most('createInvoice')).toBe(50_000);
    expect(most('createQuote')).toBe(50_000);
    expect(most('createBatchEvents')).toBe(100_000);
  });

  test('a plan of 500 charges with 15 filters each is below its limit of values', () => {
    const filter = { properties: { amount: '1' }, values: { k: ['v'] } };
    const filters = Array.from({ length: 15 }, () => filter);
    const charge = { billable_metric_id: 'x', charge_model: 'standard', properties: { amount: '1' }, filters };
    const plan = { name: 'p', charges: Array.from({ length: 500 }, () => charge) };
    expect(shapeOf(JSON.stringify({ plan }), MANY_VALUES).excess).toBeUndefined();
  });
});

describe('over HTTP', () => {
  let service: TestService;
  let org: Awaited<ReturnType<TestService['org']>>;
  beforeAll(async () => {
    service = await startService();
    org = await service.org({ sandbox: true });
  });
  afterAll(() => service.stop());

  const TOO_LARGE = { status: 413, body: { code: 'payload_too_large' } };
  const customer = (rest: object) => ({ [FIELD]: { external_id: 'c', ...rest } });

  test('a body of 4 000 values is refused for an ordinary operation, in known and unknown fields', async () => {
    const many = Array.from({ length: 4000 }, () => 1);
    expect(await org.post('/customers', customer({ tax_codes: many }))).toMatchObject(TOO_LARGE);
    expect(await org.post('/customers', customer({ nobody_knows: many }))).toMatchObject(TOO_LARGE);
    expect((await org.post('/customers', customer({ nobody_knows: many.slice(100) }))).status).toBe(200);
  });

  test('a compressed body that unpacks to more than a hundred times its size is refused', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
    const packed = (rest: object) => gzipSync(JSON.stringify(customer(rest)));
    const beyondContract = 'a packed body is no JSON in the log';
    const send = (rest: object) => org.post('/customers', undefined, { raw: packed(rest), headers, beyondContract });
    expect((await send({ name: 'Packed' })).body).toMatchObject({ customer: { name: 'Packed' } });
    expect(await send({ nobody_knows: 'x'.repeat(1_000_000) })).toMatchObject(TOO_LARGE);
  });

  test('a large body is read with the same result as a small one', async () => {
    const large = customer({ name: 'Large', nobody_knows: 'x'.repeat(200_000) });
    const answers = await Promise.all(Array.from({ length: 5 }, () => org.post('/customers', large)));
    expect(answers.map(({ status, body }) => [status, body.customer?.name])).toEqual(
      Array.from({ length: 5 }, () => [200, 'Large']),
    );
    const numbers = customer({ name: 'x'.repeat(100_000), metadata: [{ key: 'n', value: 1e-7 }], x: 0 });
    expect((await org.post('/customers', numbers)).status).toBe(422);
  });
});
