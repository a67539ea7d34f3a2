import { Temporal } from 'temporal-polyfill';
import { exponentOf } from '../../money/currency.ts';
import { toMainUnit } from '../../money/units.ts';
import { PEPPOL_SCHEMES } from '../electronic-address.ts';
import type { DocumentFacts, DocumentParty } from '../facts.ts';
import { isBelgianEnterpriseNumber, isIban, isLuhn } from '../identifiers.ts';
import { isFilled, type Made, ofEachParty, type Rule, rulesOf } from './rule.ts';

/** How far a line's amount may be from quantity times price, in the main unit. */
const MOST_LINE_OFF = 0.02;
const XRECHNUNG_TYPES: ReadonlySet<string> = new Set(['380', '389', '381']);
/** Both have to be in the form that Germany's receivers check. */
const MAIL = /^[^@\s.]([^@\s]*[^@\s.])?@[^@\s.]([^@\s]*[^@\s.])?$/;
const LEAST_PHONE_DIGITS = 3;

const isGln = (id: string): boolean => {
  const sum = [...id].reverse().reduce((total, digit, index) => total + Number(digit) * (index % 2 === 1 ? 3 : 1), 0);
  return sum % 10 === 0;
};
const NORWEGIAN_WEIGHTS = [3, 2, 7, 6, 5, 4, 3, 2];
const isNorwegian = (id: string): boolean => {
  const sum = NORWEGIAN_WEIGHTS.reduce((total, weight, index) => total + weight * Number(id[index]), 0);
  return (11 - (sum % 11)) % 11 === Number(id[8]);
};

/** Numbers whose register the network checks, by scheme: the rule and what it tests. */
const addressChecks: Readonly<Record<string, [rule: string, check: (id: string) => boolean]>> = {
  '0088': ['COMMON-R040', (id) => /^[0-9]{8,14}$/.test(id) && isGln(id)],
  '0192': ['COMMON-R041', (id) => /^[0-9]{9}$/.test(id) && isNorwegian(id)],
  '0184': ['COMMON-R042', (id) => /^DK[0-9]{8}$/.test(id)],
  '0208': ['COMMON-R043', isBelgianEnterpriseNumber],
  '0007': ['COMMON-R049', (id) => /^[0-9]{10}$/.test(id) && isLuhn(id)],
};
const isOnPeppol = ({ endpoint }: DocumentParty): boolean => endpoint === null || PEPPOL_SCHEMES.has(endpoint.scheme);

const isLineProduct = ({ lines, currency }: DocumentFacts): boolean =>
  lines.every(({ quantity, price, amountCents }) => {
    if (!quantity.isFinite() || price.isNaN() || !Number.isSafeInteger(amountCents)) return true;
    const amount = toMainUnit(quantity.times(0).plus(amountCents), exponentOf(currency));
    return quantity.times(price).minus(amount).abs().lte(MOST_LINE_OFF);
  });

const isWithin = ({ period, lines }: DocumentFacts, end: 'from' | 'to'): boolean =>
  lines.every((line) => {
    if (period === null || line.period === null) return true;
    const order = Temporal.PlainDate.compare(line.period[end], period[end]);
    return end === 'from' ? order >= 0 : order <= 0;
  });

const has = (field: 'city' | 'zipcode', side: 'seller' | 'buyer') => (facts: DocumentFacts) =>
  isFilled(facts[side][field]);
const hasContact = ({ seller: { contact } }: DocumentFacts) =>
  [contact.name, contact.phone, contact.email].some(isFilled);
const contactHas = (field: 'name' | 'phone' | 'email') => (facts: DocumentFacts) =>
  !hasContact(facts) || isFilled(facts.seller.contact[field]);
const withAccount = (facts: DocumentFacts, code: '58' | '59'): string | null | undefined => {
  const { payment } = facts;
  if (payment?.code !== code) return undefined;
  return payment.code === '59' ? payment.debitedAccount : payment.account.id;
};
const isGerman = ({ seller, buyer }: DocumentFacts) => seller.country === 'DE' && buyer.country === 'DE';
const isTaxed = ({ vat }: DocumentFacts) => vat.some(({ category }) => category !== 'O');

/** Rules of the network Peppol that XRechnung repeats. */
const shared: readonly Made[] = [
  {
    id: 'R010',
    side: 'buyer',
    field: 'e_invoicing.endpoint_id',
    text: 'The buyer has an electronic address.',
    test: ({ buyer }) => buyer.endpoint !== null,
  },
  {
    id: 'R020',
    side: 'seller',
    field: 'e_invoicing.endpoint_id',
    text: 'The seller has an electronic address.',
    test: ({ seller }) => seller.endpoint !== null,
  },
  {
    id: 'R061',
    side: 'buyer',
    field: 'payment_method',
    text: 'A direct debit names its mandate.',
    test: ({ payment }) => payment?.code !== '59' || isFilled(payment.mandate),
  },
  {
    id: 'R110',
    side: 'document',
    field: 'fees.from_date',
    text: 'Lines begin within the document’s period.',
    test: (facts) => isWithin(facts, 'from'),
  },
  {
    id: 'R111',
    side: 'document',
    field: 'fees.to_date',
    text: 'Lines end within the document’s period.',
    test: (facts) => isWithin(facts, 'to'),
  },
  {
    id: 'R120',
    side: 'document',
    field: 'fees.amount_cents',
    text: 'A line’s amount is its quantity times its price.',
    test: isLineProduct,
  },
];

const peppol: readonly Made[] = [
  {
    id: 'R003',
    side: 'buyer',
    field: 'e_invoicing.buyer_reference',
    text: 'A document has a buyer reference or an order number.',
    test: ({ buyerReference, orderNumber }) => isFilled(buyerReference) || isFilled(orderNumber),
  },
  {
    id: 'P0100',
    side: 'document',
    field: 'self_billed',
    text: 'The network takes no self-billed invoice in this process.',
    test: ({ typeCode }) => typeCode !== '389',
  },
  {
    id: 'P0101',
    side: 'document',
    field: 'self_billed',
    text: 'The network takes no self-billed credit note in this process.',
    test: ({ typeCode }) => typeCode !== '261',
  },
  ...ofEachParty({
    id: 'CL008',
    field: 'e_invoicing.endpoint_scheme',
    text: 'The scheme of an electronic address is one of the network, which mail is not.',
    test: isOnPeppol,
  }),
  ...Object.entries(addressChecks).flatMap(([scheme, [id, check]]) => [
    ...ofEachParty({
      id,
      field: 'e_invoicing.endpoint_id',
      text: `An electronic address of the register ${scheme} has its form and its check digits.`,
      test: ({ endpoint }) => endpoint?.scheme !== scheme || check(endpoint.id),
    }),
    ...ofEachParty({
      id,
      field: 'legal_number',
      text: `A number of the register ${scheme} has its form and its check digits.`,
      test: ({ legalScheme, legalNumber }) => legalScheme !== scheme || legalNumber === null || check(legalNumber),
    }),
  ]),
];

/** What Germany asks for, under the names of both sets of rules. */
const german: readonly (Made & { national?: string })[] = [
  {
    id: 'BR-DE-1',
    national: 'DE-R-001',
    side: 'seller',
    field: 'bank_accounts',
    text: 'A document says how it is paid.',
    test: ({ payment }) => payment !== null,
  },
  {
    id: 'BR-DE-2',
    national: 'DE-R-002',
    side: 'seller',
    field: 'e_invoicing.contact_name',
    text: 'The seller names a contact.',
    test: hasContact,
  },
  {
    id: 'BR-DE-3',
    national: 'DE-R-003',
    side: 'seller',
    field: 'city',
    text: 'The seller’s address has a city.',
    test: has('city', 'seller'),
  },
  {
    id: 'BR-DE-4',
    national: 'DE-R-004',
    side: 'seller',
    field: 'zipcode',
    text: 'The seller’s address has a post code.',
    test: has('zipcode', 'seller'),
  },
  {
    id: 'BR-DE-5',
    national: 'DE-R-005',
    side: 'seller',
    field: 'e_invoicing.contact_name',
    text: 'The contact has a name.',
    test: contactHas('name'),
  },
  {
    id: 'BR-DE-6',
    national: 'DE-R-006',
    side: 'seller',
    field: 'phone',
    text: 'The contact has a telephone number.',
    test: contactHas('phone'),
  },
  {
    id: 'BR-DE-7',
    national: 'DE-R-007',
    side: 'seller',
    field: 'email',
    text: 'The contact has an address of mail.',
    test: contactHas('email'),
  },
  {
    id: 'BR-DE-8',
    national: 'DE-R-008',
    side: 'buyer',
    field: 'city',
    text: 'The buyer’s address has a city.',
    test: has('city', 'buyer'),
  },
  {
    id: 'BR-DE-9',
    national: 'DE-R-009',
    side: 'buyer',
    field: 'zipcode',
    text: 'The buyer’s address has a post code.',
    test: has('zipcode', 'buyer'),
  },
  {
    id: 'BR-DE-10',
    side: 'buyer',
    field: 'shipping_address.city',
    text: 'The address of delivery has a city.',
    test: ({ delivery }) => delivery === null || isFilled(delivery.city),
  },
  {
    id: 'BR-DE-11',
    side: 'buyer',
    field: 'shipping_address.zipcode',
    text: 'The address of delivery has a post code.',
    test: ({ delivery }) => delivery === null || isFilled(delivery.zipcode),
  },
  {
    id: 'BR-DE-15',
    national: 'DE-R-015',
    side: 'buyer',
    field: 'e_invoicing.buyer_reference',
    text: 'A document has a buyer reference.',
    test: ({ buyerReference }) => isFilled(buyerReference),
  },
  {
    id: 'BR-DE-16',
    national: 'DE-R-016',
    side: 'seller',
    field: 'tax_identification_number',
    text: 'A seller within VAT has a VAT number or a tax registration.',
    test: (facts) => !isTaxed(facts) || isFilled(facts.seller.vatNumber) || isFilled(facts.seller.taxRegistration),
  },
  {
    id: 'BR-DE-17',
    national: 'DE-R-017',
    side: 'document',
    field: 'self_billed',
    text: 'The type of the document is one that Germany’s receivers expect.',
    isWarning: true,
    test: ({ typeCode }) => XRECHNUNG_TYPES.has(typeCode),
  },
  {
    id: 'BR-DE-18',
    national: 'DE-R-018',
    side: 'document',
    field: 'payment_terms',
    text: 'A line of the terms that begins with # is a discount in the agreed form.',
    test: ({ terms }) => !/(^|\n)\s*#/.test(terms ?? ''),
  },
  {
    id: 'BR-DE-19',
    national: 'DE-R-019',
    side: 'seller',
    field: 'bank_accounts.iban',
    text: 'The account of a transfer in euros is an IBAN.',
    isWarning: true,
    test: (facts) => {
      const account = withAccount(facts, '58');
      return !isFilled(account ?? null) || isIban(account!);
    },
  },
  {
    id: 'BR-DE-20',
    national: 'DE-R-020',
    side: 'buyer',
    field: 'payment_method',
    text: 'The debited account is an IBAN.',
    isWarning: true,
    test: (facts) => {
      const account = withAccount(facts, '59');
      return !isFilled(account ?? null) || isIban(account!);
    },
  },
  {
    id: 'BR-DE-27',
    national: 'DE-R-027',
    side: 'seller',
    field: 'phone',
    text: 'The contact’s telephone number has three digits or more.',
    isWarning: true,
    test: ({ seller: { contact } }) =>
      !isFilled(contact.phone) || contact.phone!.replace(/[^0-9]/g, '').length >= LEAST_PHONE_DIGITS,
  },
  {
    id: 'BR-DE-28',
    national: 'DE-R-028',
    side: 'seller',
    field: 'email',
    text: 'The contact’s mail is one address.',
    isWarning: true,
    test: ({ seller: { contact } }) => !isFilled(contact.email) || MAIL.test(contact.email!),
  },
  {
    id: 'BR-DE-30',
    national: 'DE-R-030',
    side: 'seller',
    field: 'e_invoicing.creditor_id',
    text: 'A direct debit names the creditor.',
    test: ({ payment }) => payment?.code !== '59' || isFilled(payment.creditorId),
  },
  {
    id: 'BR-DE-31',
    national: 'DE-R-031',
    side: 'buyer',
    field: 'payment_method',
    text: 'A direct debit names the account.',
    test: ({ payment }) => payment?.code !== '59' || isFilled(payment.debitedAccount),
  },
];

const nationalRules: Made[] = german.flatMap(({ national, ...rule }) =>
  national === undefined
    ? []
    : [{ ...rule, id: national, test: (facts: DocumentFacts) => !isGerman(facts) || rule.test(facts) }],
);

/** Rules of single receivers: the network Peppol with Germany's own, and XRechnung. */
export const receiverRules: readonly Rule[] = [
  ...rulesOf(['peppol', 'xrechnung'], shared),
  ...rulesOf(['peppol'], [...peppol, ...nationalRules]),
  ...rulesOf(
    ['xrechnung'],
    german.map(({ national: _national, ...rule }) => rule),
  ),
];
