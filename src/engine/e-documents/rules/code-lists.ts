import { VAT_CATEGORIES } from '../../invoices/vat-breakdown.ts';
import { isCurrency } from '../../money/currency.ts';
import { ADDRESS_SCHEMES } from '../electronic-address.ts';
import type { DocumentParty } from '../facts.ts';
import { EXEMPTIONS, REGISTERS, UNITS } from './long-code-lists.ts';
import { isFilled, ofEachParty, type Rule, rulesOf } from './rule.ts';

const TYPE_CODES: ReadonlySet<string> = new Set(['380', '381', '389', '261']);
const PAYMENT_CODES: ReadonlySet<string> = new Set(['1', '30', '58', '59']);
/** The form of a unit. */
export const UNIT_CODE = /^[A-Z0-9]{2,3}$/;
const COUNTRY_CODE = /^[A-Z]{2}$/;
/** The form of an exemption code (BT-121). */
export const EXEMPTION_CODE = /^VATEX-[A-Z]{2}(-[0-9A-Z]+)*$/;

const isKnownScheme = ({ endpoint }: DocumentParty): boolean =>
  endpoint === null || !isFilled(endpoint.scheme) || ADDRESS_SCHEMES.has(endpoint.scheme);
const isIn = (codes: ReadonlySet<string>, text: string | null): boolean => text === null || codes.has(text);

/** Codes are in the lists that EN 16931 names: of types, currencies, registers, countries, units and reasons. */
export const codeRules: readonly Rule[] = rulesOf(
  ['en16931'],
  [
    {
      id: 'BR-CL-01',
      side: 'document',
      field: 'invoice_type',
      text: 'The type of the document is in the list UNTDID 1001.',
      test: ({ typeCode }) => TYPE_CODES.has(typeCode),
    },
    {
      id: 'BR-CL-04',
      side: 'document',
      field: 'currency',
      text: 'The currency is in the list ISO 4217.',
      test: ({ currency }) => isCurrency(currency),
    },
    ...ofEachParty({
      id: 'BR-CL-11',
      field: 'e_invoicing.legal_scheme',
      text: 'The register of a legal number is in the list ISO 6523.',
      test: ({ legalScheme }) => isIn(REGISTERS, legalScheme),
    }),
    ...ofEachParty({
      id: 'BR-CL-14',
      field: 'country',
      text: 'Countries are codes of ISO 3166.',
      test: ({ country }) => !isFilled(country) || COUNTRY_CODE.test(country!),
    }),
    {
      id: 'BR-CL-16',
      side: 'seller',
      field: 'bank_accounts',
      text: 'The means of payment is in the list UNTDID 4461.',
      test: ({ payment }) => payment === null || PAYMENT_CODES.has(payment.code),
    },
    {
      id: 'BR-CL-17',
      side: 'tax',
      field: 'vat_category',
      text: 'VAT categories of rows and allowances are in the list UNCL 5305.',
      test: ({ vat, allowances }) => [...vat, ...allowances].every(({ category }) => VAT_CATEGORIES.includes(category)),
    },
    {
      id: 'BR-CL-18',
      side: 'tax',
      field: 'vat_category',
      text: 'VAT categories of lines are in the list UNCL 5305.',
      test: ({ lines }) => lines.every(({ category }) => VAT_CATEGORIES.includes(category)),
    },
    {
      id: 'BR-CL-22',
      side: 'tax',
      field: 'exemption_code',
      text: 'An exemption code is in the list VATEX.',
      test: ({ vat }) => vat.every(({ exemptionCode }) => isIn(EXEMPTIONS, exemptionCode)),
    },
    {
      id: 'BR-CL-23',
      side: 'document',
      field: 'unit_code',
      text: 'Units are in the lists UN/ECE 20 and 21.',
      test: ({ lines }) => lines.every(({ unit }) => !isFilled(unit) || UNITS.has(unit)),
    },
    ...ofEachParty({
      id: 'BR-CL-25',
      field: 'e_invoicing.endpoint_scheme',
      text: 'The scheme of an electronic address is in the list EAS.',
      test: isKnownScheme,
    }),
  ],
);
