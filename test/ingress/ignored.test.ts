import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ignoredHeader, unknownFields, unknownFilters } from '../../src/ingress/ignored-fields.ts';
import { operations } from '../../src/operations.ts';
import { startService, type TestService } from '../support/service.ts';

describe('unknown fields of a schema', () => {
  const Charge = z.object({ code: z.string(), properties: z.record(z.string(), z.unknown()) });
  const Plan = z
    .object({ name: z.string(), charges: z.array(Charge).nullish(), free: z.unknown().transform((value) => value) })
    .transform((plan) => plan);
  const fields = { name: 'a', charges: [{ code: 'b', properties: { anything: 1 } }], free: { any: 1 } };

  test.each<[object, string[]]>([
    [fields, []],
    [{ ...fields, nmae: 'a' }, ['nmae']],
    [{ charges: [{ code: 'a' }, { cdoe: 'b' }] }, ['charges[1].cdoe']],
    [{ constructor: 1, __proto__x: 2 }, ['constructor', '__proto__x']],
    [{ charges: 'none' }, []],
  ])('unknown fields of %j are %j', (value, expected) => {
    expect(unknownFields({ body: Plan }, value)).toEqual(expected);
  });

  test('of thousands of unknown fields a few are named', () => {
    const charges = Array.from({ length: 5000 }, () => ({ cdoe: 'b' }));
    expect(unknownFields({ body: Plan }, { charges }).length).toBeLessThan(30);
  });

  test('the header with unknown fields holds visible characters only', () => {
    const header = ignoredHeader(['a\r\nX-Evil: 1', 'ü', '\ud800', 'x'.repeat(5000)])['X-Svc-Ignored']!;
    expect(header).toMatch(/^[\x21-\x7e ]+$/);
    expect(header.length).toBeLessThan(500);
  });
});

// A report that leaves a misspelt filter out tells of everybody; a write that does bills everybody.
describe('filters that an operation does not know', () => {
  const narrowed = operations.filter(({ query, hidden }) => query && !hidden);

  test.each(narrowed.map((each) => [each.name, each] as const))('%s names each of them', (_name, operation) => {
    expect(unknownFilters(operation, { lago_filetr: '', page: '' }, { svc_filetr: '', page: '' })[0]).toBe(
      'lago_filetr',
    );
    expect(unknownFilters(operation, { constructor: '' }, { constructor: '' })).toEqual(['constructor']);
  });

  test('a list without filters names all but its pages, a record none', () => {
    const sent = { code: 'a', page: '1', per_page: '5' };
    const of = (path: string) => operations.find((each) => each.method === 'get' && each.path === path)!;
    expect(unknownFilters(of('/billing_entities'), sent, sent)).toEqual(['code']);
    for (const path of ['/customers/:external_id', '/invoices/:svc_id'])
      expect(unknownFilters(of(path), sent, sent)).toEqual([]);
  });
});

describe('over HTTP', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ pools: ['writes'] });
  });
  afterAll(() => service.stop());

  test('an unknown filter of a list is refused in a sandbox and named in a header elsewhere', async () => {
    const [sandbox, live] = [await service.org({ sandbox: true }), await service.org()];
    const path = '/payment_receipts?external_customer_id=acme&per_page=5&other[]=1';
    const refused = await sandbox.get(path);
    expect([refused.status, refused.body.error_details]).toEqual([
      422,
      { external_customer_id: ['value_must_be_blank'], other: ['value_must_be_blank'] },
    ]);
    const named = await live.get(path);
    expect([named.status, named.headers['x-svc-ignored']]).toEqual([200, 'external_customer_id, other']);
    for (const org of [sandbox, live]) {
      const known = await org.get('/invoices?status[]=draft&metadata[a]=b&page=1&billing_entity_codes[]=');
      expect([known.status, known.headers['x-svc-ignored']]).toEqual([200, undefined]);
    }
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf[]', 'constructor[x]'])(
    'a filter that is named like a member of every object, %s, is as unknown as any other',
    async (name) => {
      const [sandbox, live] = [await service.org({ sandbox: true }), await service.org()];
      for (const path of ['/customers', '/plans', '/invoices', '/customers/x/current_usage'])
        expect((await sandbox.get(`${path}?${name}=1`)).status).toBeLessThan(500);
      expect((await sandbox.get(`/plans?${name}=1`)).status).toBe(422);
      expect((await live.delete(`/subscriptions/none?${name}=1`)).status).toBe(422);
    },
  );

  test('so is that of a report', async () => {
    const path = '/analytics/gross_revenue?external_customer=acme';
    const refused = await (await service.org({ sandbox: true })).get(path);
    expect([refused.status, refused.body.error_details]).toEqual([422, { external_customer: ['value_must_be_blank'] }]);
    const named = await (await service.org()).get(path);
    expect([named.status, named.headers['x-svc-ignored']]).toEqual([200, 'external_customer']);
  });

  test('a write that would do more than was asked for is refused everywhere, and does nothing', async () => {
    for (const sandbox of [true, false]) {
      const org = await service.org({ sandbox });
      for (const run of ['finalize_all', 'retry_all'])
        expect(await org.post(`/invoices/${run}?external_customr_id=acme`)).toMatchObject({
          status: 422,
          body: { error_details: { external_customr_id: ['value_must_be_blank'] } },
        });
      expect(await service.sql`select from runs where organization_id = ${org.organization.organization_id}`).toEqual(
        [],
      );
      const ended = await org.delete('/subscriptions/sub?on_termination_invoise=skip');
      expect([ended.status, ended.body.error_details]).toEqual([
        422,
        { on_termination_invoise: ['value_must_be_blank'] },
      ]);
    }
  });

  // Each is an option that is misspelt, and whoever misses it would find the events stored all the same.
  const event = { transaction_id: 'one', external_subscription_id: 'sub', code: 'calls' };
  const line = { raw: JSON.stringify(event), headers: { 'content-type': 'application/x-ndjson' } };
  test.each([
    ['/events?explian=true', { event }, {}, 'explian', 'value_must_be_blank'],
    ['/events?dry_run=true', { event }, {}, 'dry_run', 'value_must_be_blank'],
    ['/events?explain=ture', { event }, {}, 'explain', 'value_is_invalid'],
    ['/events', { event }, { headers: { 'x-svc-explain': 'ture' } }, 'explain', 'value_is_invalid'],
    ['/events/batch?mdoe=tolerant', { events: [event] }, {}, 'mdoe', 'value_must_be_blank'],
    ['/events/batch?mode=tolerent', { events: [event] }, {}, 'mode', 'value_is_invalid'],
    ['/events/bulk?explian=true', undefined, line, 'explian', 'value_must_be_blank'],
    ['/events/bulk?explain=ture', undefined, line, 'explain', 'value_is_invalid'],
  ])('POST %s with %j %j stores nothing and names what it does not know', async (path, body, options, name, code) => {
    for (const sandbox of [true, false])
      for (const key of [undefined, 'one']) {
        const org = await service.org({ sandbox });
        const sent = (options as { headers?: Record<string, string> }).headers;
        const headers = { ...sent, ...(key === undefined ? {} : { 'idempotency-key': key }) };
        const answer = await org.post(path, body, { ...options, headers });
        expect([answer.status, answer.body.error_details]).toEqual([422, { [name]: [code] }]);
        expect((await org.get('/events')).body.events).toEqual([]);
      }
  });

  test('a write that takes no parameters names them, and refuses them in a sandbox', async () => {
    const [sandbox, live] = [await service.org({ sandbox: true }), await service.org()];
    const [path, body] = ['/customers?dry_run=true', { customer: { external_id: 'acme' } }];
    const named = await live.post(path, body);
    expect([named.status, named.headers['x-svc-ignored']]).toEqual([200, 'dry_run']);
    const refused = await sandbox.post(path, body);
    expect([refused.status, refused.body.error_details]).toEqual([422, { dry_run: ['value_must_be_blank'] }]);
    expect((await sandbox.get('/customers')).body.customers).toEqual([]);
  });

  test('unknown fields of a body are ignored and named in a header, in sandboxes too', async () => {
    for (const sandbox of [true, false]) {
      const org = await service.org({ sandbox });
      const customer = { external_id: 'acme', nmae: 'Acme', billing_configuration: { document_lcoale: 'en' } };
      const answer = await org.post('/customers', { customer });
      expect([answer.status, answer.headers['x-svc-ignored']]).toEqual([
        200,
        'nmae, billing_configuration.document_lcoale',
      ]);
      const plain = await org.post('/customers', { customer: { external_id: 'acme', name: 'Acme' } });
      expect(plain.headers['x-svc-ignored']).toBeUndefined();
    }
  });
});
