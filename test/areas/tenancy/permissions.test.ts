import { expect, test } from 'vitest';
import {
  allPermissions,
  defaultPermissions,
  PERMISSION_RESOURCES,
} from '../../../src/areas/tenancy/organizations/permissions.ts';

test('a new key has all permissions except those that must be named', () => {
  const permissions = defaultPermissions();
  const missing = PERMISSION_RESOURCES.filter((resource) => permissions[resource] === undefined);
  expect(missing.sort()).toEqual(['api_key', 'erasure', 'payment_provider', 'retention']);
  expect(permissions.member).toEqual(['read']);
  expect(permissions.customer).toEqual(['read', 'write']);
});

test('the operator’s own key has all permissions', () => {
  expect(Object.values(allPermissions())).toHaveLength(PERMISSION_RESOURCES.length);
  expect(new Set(Object.values(allPermissions()).map((modes) => modes.join()))).toEqual(new Set(['read,write']));
});
