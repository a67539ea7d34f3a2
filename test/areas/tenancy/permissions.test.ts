import { expect, test } from 'vitest';
import {
  allPermissions,
  defaultPermissions,
  PERMISSION_RESOURCES,
} from '../../../src/areas/tenancy/organizations/permissions.ts';

test('a key holds by default everything but what must be named', () => {
  const permissions = defaultPermissions();
  const missing = PERMISSION_RESOURCES.filter((resource) => permissions[resource] === undefined);
  expect(missing.sort()).toEqual(['api_key', 'erasure', 'payment_provider', 'retention']);
  expect(permissions.member).toEqual(['read']);
  expect(permissions.customer).toEqual(['read', 'write']);
});

test("the operator's own key holds everything", () => {
  expect(Object.values(allPermissions())).toHaveLength(PERMISSION_RESOURCES.length);
  expect(new Set(Object.values(allPermissions()).map((modes) => modes.join()))).toEqual(new Set(['read,write']));
});
