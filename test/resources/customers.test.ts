import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let acme: Awaited<ReturnType<TestService['org']>>;

beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
  acme = await service.org({ name: 'Acme' });
});
afterAll(() => service.stop());

const upsert = (customer: object, client: Client = acme) => client.post('/customers', { customer });

test('a new customer has every field of the contract, numbered and named in its organization', async () => {
  const org = await service.org({ name: 'Acme' });
  const answer = await upsert({ external_id: 'c1' }, org);

  expect(answer.status).toBe(200);
  const prefix = `ACM-${org.organization.organization_id.slice(-4).toUpperCase()}`;
  expect(answer.body.customer).toMatchObject({
    external_id: 'c1',
    sequential_id: 1,
    slug: `${prefix}-001`,
    billing_entity_code: 'acme',
    account_type: 'customer',
    applicable_timezone: 'UTC',
    finalize_zero_amount_invoice: 'inherit',
    metadata: [],
    taxes: [],
    integration_customers: [],
    applicable_invoice_custom_sections: [],
    error_details: [],
  });
});
