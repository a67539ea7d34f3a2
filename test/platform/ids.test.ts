import { validate, version } from 'uuid';
import { expect, test, vi } from 'vitest';
import type { Scope } from '../../src/platform/db/scope.ts';
import type { CustomerId, ExternalCustomerId, InvoiceId, OrganizationId } from '../../src/platform/ids.ts';
import { newId } from '../../src/platform/ids.ts';

test('ids are UUIDs of version 7 and grow within a process', () => {
  const ids = Array.from({ length: 5000 }, () => newId());
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  expect(ids).toEqual([...new Set(ids)].sort());
});

test('an id contains the time of its creation', async () => {
  // The time of ids never goes back, so that of a module under a stopped clock may stand ahead.
  vi.resetModules();
  const { newId } = await import('../../src/platform/ids.ts');
  const before = Date.now();
  const milliseconds = Number.parseInt(newId().replaceAll('-', '').slice(0, 12), 16);
  expect(milliseconds).toBeGreaterThanOrEqual(before);
  expect(milliseconds).toBeLessThanOrEqual(Date.now() + 1);
});

// The compiler is the judge of this one: it fails where a line that must not compile does.
test('an id is refused where that of another noun is wanted, and a text of the wire fits', () => {
  const customer: CustomerId = newId();
  const organization: OrganizationId = newId();
  const read = (scope: Pick<Scope, 'organizationId'>, id: InvoiceId): string => `${scope.organizationId} ${id}`;

  // @ts-expect-error a customer is no invoice
  expect(read({ organizationId: organization }, customer)).toContain(customer);
  // @ts-expect-error a customer is no organization
  expect(read({ organizationId: customer }, 'of the wire')).toContain(customer);
  // @ts-expect-error what a client calls its customer is no id of ours
  const external: CustomerId = 'acme' as ExternalCustomerId;
  // @ts-expect-error of a list, too
  const invoices: readonly InvoiceId[] = [customer, external];
  expect(new Set<string>(invoices)).toEqual(new Set([customer, 'acme']));
});
