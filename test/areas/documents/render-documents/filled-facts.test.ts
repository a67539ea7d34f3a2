import { expect, test } from 'vitest';
import { filledFacts } from '../../../../src/areas/documents/render-documents/e-documents/filled-facts.ts';

// Rule: docs/rules/e-documents.md "facts": what was missing on the day of issue may be filled later.
const none = { address_line1: null, address_line2: null, city: null, zipcode: null, state: null, country: null };

test.each([
  ['a missing fact is filled', { phone: null }, { phone: '+49 30 1' }, { phone: '+49 30 1' }],
  ['a fact that was stated stays', { phone: '+49 30 1' }, { phone: '+49 30 2' }, { phone: '+49 30 1' }],
  [
    'an address is completed while it is the same one',
    { ...none, city: 'Berlin', country: 'DE' },
    { ...none, city: 'Berlin', zipcode: '10115', country: 'DE' },
    { ...none, city: 'Berlin', zipcode: '10115', country: 'DE' },
  ],
  [
    'nothing of a new address is mixed with a former one',
    { ...none, city: 'Berlin', country: 'DE' },
    { ...none, address_line1: 'Ring 2', city: 'Hamburg', zipcode: '20095', country: 'DE' },
    { ...none, city: 'Berlin', country: 'DE' },
  ],
  [
    'an address of delivery that was not there is filled whole',
    { shipping_address: none },
    { shipping_address: { ...none, city: 'Lyon', zipcode: '69001', country: 'FR' } },
    { shipping_address: { ...none, city: 'Lyon', zipcode: '69001', country: 'FR' } },
  ],
  [
    'an address of delivery is completed',
    { shipping_address: { ...none, country: 'FR' } },
    { shipping_address: { ...none, city: 'Lyon', country: 'FR' } },
    { shipping_address: { ...none, city: 'Lyon', country: 'FR' } },
  ],
  [
    'an electronic address keeps its register',
    { e_invoicing: { endpoint_scheme: '0088' } },
    { e_invoicing: { endpoint_id: '0202239951', endpoint_scheme: '0208' } },
    { e_invoicing: { endpoint_scheme: '0088' } },
  ],
  [
    'a legal number and its register come together',
    { legal_number: null, e_invoicing: { contact_name: 'Desk' } },
    { legal_number: '0202239951', e_invoicing: { legal_scheme: '0208', contact_name: 'Other' } },
    { legal_number: '0202239951', e_invoicing: { legal_scheme: '0208', contact_name: 'Desk' } },
  ],
  [
    'a register is not given to another number',
    { legal_number: 'HRB 1', e_invoicing: null },
    { legal_number: '0202239951', e_invoicing: { legal_scheme: '0208' } },
    { legal_number: 'HRB 1', e_invoicing: null },
  ],
  [
    'an empty list is filled',
    { bank_accounts: [] },
    { bank_accounts: [{ iban: 'X' }] },
    { bank_accounts: [{ iban: 'X' }] },
  ],
  [
    'a reference that was missing comes with its mark',
    { e_invoicing: { leitweg_id: false } },
    { e_invoicing: { buyer_reference: '04011000-12345-03', leitweg_id: true } },
    { e_invoicing: { buyer_reference: '04011000-12345-03', leitweg_id: true } },
  ],
  [
    'a reference that was stated keeps its mark',
    { e_invoicing: { buyer_reference: 'A7', leitweg_id: false } },
    { e_invoicing: { buyer_reference: 'A7', leitweg_id: true } },
    { e_invoicing: { buyer_reference: 'A7', leitweg_id: false } },
  ],
  [
    'no profile is chosen afterwards',
    { e_document_profile: null, einvoicing: false },
    { e_document_profile: 'facturx', einvoicing: true },
    { e_document_profile: null, einvoicing: false },
  ],
  ['what is not named stays out', { name: 'Then' }, { name: 'Now', currency: 'EUR' }, { name: 'Then' }],
])('%s', (_what, frozen, now, expected) => {
  expect(filledFacts(frozen, now)).toEqual(expected);
});
