import type { DocumentParty } from '../facts.ts';
import { isFilled, ofEachParty, type Rule, rulesOf } from './rule.ts';

const hasScheme = ({ endpoint }: DocumentParty): boolean => endpoint === null || isFilled(endpoint.scheme);
const hasPrefix = (number: string | null): boolean => number === null || /^[A-Z]{2}./.test(number);

/** What both parties name: who and where they are, their numbers, and the account that is paid to. */
export const partyRules: readonly Rule[] = rulesOf(
  ['en16931'],
  [
    {
      id: 'BR-06',
      side: 'seller',
      field: 'name',
      text: 'The seller has a name.',
      test: ({ seller }) => isFilled(seller.name),
    },
    {
      id: 'BR-07',
      side: 'buyer',
      field: 'name',
      text: 'The buyer has a name.',
      test: ({ buyer }) => isFilled(buyer.name),
    },
    {
      id: 'BR-09',
      side: 'seller',
      field: 'country',
      text: 'The seller’s address has a country.',
      test: ({ seller }) => isFilled(seller.country),
    },
    {
      id: 'BR-11',
      side: 'buyer',
      field: 'country',
      text: 'The buyer’s address has a country.',
      test: ({ buyer }) => isFilled(buyer.country),
    },
    {
      id: 'BR-50',
      side: 'seller',
      field: 'bank_accounts.iban',
      text: 'A transfer names the account.',
      test: ({ payment }) => payment === null || !('account' in payment) || isFilled(payment.account.id),
    },
    {
      id: 'BR-57',
      side: 'buyer',
      field: 'shipping_address.country',
      text: 'The address of delivery has a country.',
      test: ({ delivery }) => delivery === null || isFilled(delivery.country),
    },
    {
      id: 'BR-62',
      side: 'seller',
      field: 'e_invoicing.endpoint_scheme',
      text: 'The seller’s electronic address has a scheme.',
      test: ({ seller }) => hasScheme(seller),
    },
    {
      id: 'BR-63',
      side: 'buyer',
      field: 'e_invoicing.endpoint_scheme',
      text: 'The buyer’s electronic address has a scheme.',
      test: ({ buyer }) => hasScheme(buyer),
    },
    ...ofEachParty({
      id: 'BR-CO-09',
      field: 'tax_identification_number',
      text: 'A VAT number begins with the code of a country.',
      test: ({ vatNumber }) => hasPrefix(vatNumber),
    }),
    {
      id: 'BR-CO-26',
      side: 'seller',
      field: 'legal_number',
      text: 'The seller has a number: of the company, of VAT, or another.',
      test: ({ seller }) => [seller.identifier, seller.legalNumber, seller.vatNumber].some(isFilled),
    },
  ],
);
