import { expect, test } from 'vitest';
import { type PostalAddress, postalLines } from '../../src/platform/postal-address.ts';

const address = (country: string | null, fields: Partial<PostalAddress> = {}): PostalAddress => ({
  address_line1: '12 Main Street',
  address_line2: null,
  city: 'Springfield',
  state: null,
  zipcode: '62701',
  country,
  ...fields,
});

test.each([
  ['US', { state: 'IL' }, ['12 Main Street', 'Springfield, IL 62701']],
  ['DE', {}, ['12 Main Street', '62701 Springfield']],
  ['DE', { state: 'Bayern' }, ['12 Main Street', '62701 Springfield', 'Bayern']],
  ['GB', {}, ['12 Main Street', 'Springfield', '62701']],
  ['JP', { state: 'IL' }, ['〒62701', 'IL', '12 Main Street', 'Springfield']],
  ['HK', {}, ['Springfield', '12 Main Street', '62701']],
  [null, {}, ['12 Main Street', '62701 Springfield']],
  [null, { address_line1: null, city: null, zipcode: null }, []],
])('an address in %s has all its parts in the order of its post: %o', (country, fields, lines) => {
  expect(postalLines(address(country, fields))).toEqual(lines);
});
