import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ settings: { WIRE_PREFIX: 'lago' }, pools: ['writes'] });
});
afterAll(() => service.stop());

const logged = (path: string) => service.sql<{ request_body: string; request_response: string }[]>`
  select request_body, request_response from api_logs where request_path = ${`/api/v1${path}`}`;

test('the API log keeps what travelled', async () => {
  const org = await service.org();
  const { body } = await org.post('/customers', { customer: { external_id: 'ada', integration_customers: [] } });
  expect(body.customer).toHaveProperty('lago_id');
  const [made] = await logged('/customers');
  expect(JSON.parse(made!.request_response)).toEqual(body);

  await org.put('/organizations', { organization: { slug: '-', lago_note: 'x' } });
  const [refused] = await until(async () => {
    const rows = await logged('/organizations');
    return rows.length > 0 ? rows : undefined;
  });
  expect(JSON.parse(refused!.request_body)).toEqual({ organization: { slug: '-', lago_note: 'x' } });
});

test('the documentation knows the prefix only', async () => {
  const text = await (await fetch(`${service.url}/openapi.json`)).text();
  expect(text).toContain('lago_id');
  expect(text).not.toMatch(/"svc_|\{svc_/);
});
