import { expect, test } from 'vitest';
import { KeyCache } from '../../src/ingress/authenticate.ts';
import type { Sql } from '../../src/platform/db/connect.ts';

const row = (permissions: object) => ({
  id: 'key',
  organization_id: 'acme',
  permissions,
  expires_at: null,
  sandbox: false,
  limits: {},
});

test('what was read before a change was announced is not kept', async () => {
  const reads: ((rows: object[]) => void)[] = [];
  const keys = new KeyCache((() => new Promise((resolve) => reads.push(resolve))) as unknown as Sql);
  const before = keys.identify('Bearer one');
  keys.forget('acme');
  reads[0]!([row({ customer: ['write'] })]);
  await before;
  const after = keys.identify('Bearer one');
  expect(reads).toHaveLength(2);
  reads[1]!([row({})]);
  expect(await after).toMatchObject({ permissions: {} });
  expect(keys.identify('Bearer one')).toMatchObject({ permissions: {} });
});
