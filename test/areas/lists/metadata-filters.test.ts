import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let org: Awaited<ReturnType<TestService['org']>>;
const CUSTOMERS: Record<string, Record<string, string>> = {
  gold: { tier: 'gold', region: 'north' },
  silver: { tier: 'silver', region: 'north' },
  plain: {},
};

beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
  org = await service.org();
  for (const [external_id, items] of Object.entries(CUSTOMERS)) {
    const metadata = Object.entries(items).map(([key, value]) => ({ key, value, display_in_invoice: false }));
    expect((await org.post('/customers', { customer: { external_id, metadata } })).status).toBe(200);
  }
});
afterAll(() => service.stop());

const found = async (query: string) =>
  (await org.get(`/customers?${query}`)).body.customers
    .map((customer: { external_id: string }) => customer.external_id)
    .sort();

test.each([
  ['metadata[tier]=gold', ['gold']],
  ['metadata[region]=north', ['gold', 'silver']],
  ['metadata[tier]=gold&metadata[region]=north', ['gold']],
  ['metadata[tier]=gold&metadata[region]=south', []],
  ['metadata[tier]=', ['plain']],
  ['metadata[region]=north&metadata[other]=', ['gold', 'silver']],
  ['metadata[region]=north&metadata[tier]=', []],
  ['metadata[none]=&metadata[other]=', ['gold', 'plain', 'silver']],
])('the metadata filter %s finds %j', async (query, expected) => {
  expect(await found(query)).toEqual(expected);
});

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n % 3 === 0 ? '' : 'v']));
const queryOf = (count: number) =>
  Object.entries(keys(count))
    .map(([key, value]) => `metadata[${key}]=${value}`)
    .join('&');

describe.each(['/invoices', '/customers', '/customers/gold/invoices'])('%s', (path) => {
  test('a metadata filter takes ten keys and refuses eleven or five hundred before anything is read', async () => {
    expect((await org.get(`${path}?${queryOf(10)}`)).status).toBe(200);
    for (const count of [11, 500]) {
      const answer = await org.get(`${path}?${queryOf(count)}`);
      expect([answer.status, answer.body.error_details]).toEqual([422, { metadata: ['too_many_keys'] }]);
    }
  });
});

test('wallet transactions are filtered by at most ten metadata keys', async () => {
  const answer = await org.get(`/wallets/${randomUUID()}/wallet_transactions?${queryOf(11)}`);
  expect(answer.body.error_details).toEqual({ metadata: ['too_many_keys'] });
});

test.each(['findAllInvoices', 'findAllCustomers'])(
  '%s compares metadata in one condition, whatever the number of keys',
  async (operation) => {
    const now = '2026-01-01T00:00:00Z';
    const id = org.organization.organization_id;
    for (const metadata of [{ one: 'v' }, keys(10), { none: '', other: '' }]) {
      const { statements } = await countStatements(service, id, operation, { now, query: { metadata } });
      const conditions = statements.map((text) => text.match(/item\.key = any/g)?.length ?? 0);
      // The page and its count have it once each; the customers' items are read by a statement of their own.
      expect(conditions.filter((count) => count > 0)).toEqual([1, 1]);
    }
  },
);
