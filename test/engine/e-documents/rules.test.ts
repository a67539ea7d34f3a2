import { describe, expect, test } from 'vitest';
import type { DocumentFacts, VatRow } from '../../../src/engine/e-documents/facts.ts';
import { PROFILES, type Profile } from '../../../src/engine/e-documents/profiles.ts';
import { eDocumentRules, isReady, problemsOf } from '../../../src/engine/e-documents/rules.ts';
import type { VatTreatment } from '../../../src/engine/e-documents/vat-category.ts';
import type { VatCategory } from '../../../src/engine/invoices/vat-breakdown.ts';
import type { Currency } from '../../../src/engine/money/currency.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { amountLine, buyer, day, factsOf, seller, stored } from './sample-facts.ts';

const rulesBroken = (facts: DocumentFacts): string[] => problemsOf(facts).map(({ rule }) => rule);

type Break = (facts: DocumentFacts) => Partial<DocumentFacts>;

const line =
  (fields: object): Break =>
  (facts) => ({
    lines: facts.lines.map((each, index) => (index === 0 ? { ...each, ...fields } : each)),
  });
const totals =
  (fields: Partial<DocumentFacts['totals']>): Break =>
  (facts) => ({
    totals: { ...facts.totals, ...fields },
  });
const sellerIs =
  (fields: Parameters<typeof seller>[0]): Break =>
  () => ({ seller: seller(fields) });
const buyerIs =
  (fields: Parameters<typeof buyer>[0]): Break =>
  () => ({ buyer: buyer(fields) });
const contactIs = (fields: Partial<DocumentFacts['seller']['contact']>): Break =>
  sellerIs({ contact: { ...seller().contact, ...fields } });
const allowance =
  (fields: object): Break =>
  (facts) => ({
    allowances: [
      { isCharge: false, amountCents: 100, category: 'S', rate: decimal(19), reasonCode: null, reason: 'x', ...fields },
    ],
    totals: { ...facts.totals },
  });
const mandate = {
  code: '59',
  reference: 'MUS-001',
  mandate: 'M-1',
  creditorId: 'DE98ZZZ09999999999',
  debitedAccount: 'DE89370400440532013000',
} as const;

/** One change of a good document for each rule; `with` names what cannot but break along. */
const breaks: Record<string, { profile?: Profile; change: Break; with?: string[] }> = {
  currency_not_representable: { change: () => ({ currency: 'KWD' }) },
  several_taxes: { change: () => ({ unavailable: ['several_taxes'] }) },
  amounts_do_not_meet: { change: () => ({ unavailable: ['amounts_do_not_meet'] }) },
  'BR-02': { change: () => ({ number: ' ' }) },
  'BR-06': { change: sellerIs({ name: '' }) },
  'BR-07': { change: buyerIs({ name: '' }) },
  'BR-09': { change: sellerIs({ country: null }) },
  'BR-11': { change: buyerIs({ country: null }) },
  'BR-12': { change: totals({ linesCents: Number.NaN }) },
  'BR-13': { change: totals({ netCents: Number.NaN }) },
  'BR-14': { change: totals({ grossCents: Number.NaN }) },
  'BR-15': { change: totals({ payableCents: Number.NaN }) },
  'BR-16': {
    change: (facts) => ({ lines: [], vat: [], totals: { ...facts.totals, linesCents: 0 } }),
    with: ['BR-CO-13'],
  },
  'BR-22': { change: line({ quantity: decimal(1).div(0) }) },
  'BR-23': { change: line({ unit: '' }) },
  'BR-24': { change: line({ amountCents: Number.NaN }) },
  'BR-25': { change: line({ name: ' ' }) },
  'BR-26': { change: line({ price: decimal(0).div(0) }) },
  'BR-27': { change: line({ price: decimal(-1) }) },
  'BR-29': { change: () => ({ period: { from: day('2026-03-02'), to: day('2026-03-01') } }) },
  'BR-30': { change: line({ period: { from: day('2026-03-02'), to: day('2026-03-01') } }) },
  'BR-31': { change: allowance({ amountCents: 0 }) },
  'BR-33': { change: allowance({ reason: null }), with: ['BR-CO-11', 'BR-S-08'] },
  'BR-38': { change: allowance({ isCharge: true, reason: null }), with: ['BR-CO-12', 'BR-S-08'] },
  'BR-45': { change: (facts) => ({ vat: facts.vat.map((row) => ({ ...row, netCents: Number.NaN })) }) },
  'BR-46': { change: (facts) => ({ vat: facts.vat.map((row) => ({ ...row, taxCents: Number.NaN })) }) },
  'BR-50': {
    change: () => ({ payment: { code: '30', reference: 'x', account: { id: '', bic: null, holder: null } } }),
  },
  'BR-55': { change: () => ({ preceding: [{ number: '', issuedOn: null }] }) },
  'BR-57': { change: () => ({ delivery: { city: 'Lyon', zipcode: '69001', country: null } }) },
  'BR-62': { change: sellerIs({ endpoint: { id: 'x', scheme: '' } }) },
  'BR-63': { change: buyerIs({ endpoint: { id: 'x', scheme: '' } }) },
  'BR-CO-09': { change: sellerIs({ vatNumber: '123456789' }) },
  'BR-CO-10': { change: line({ amountCents: 9999 }), with: ['BR-S-08'] },
  'BR-CO-11': { change: totals({ allowancesCents: 1 }), with: ['BR-CO-13'] },
  'BR-CO-12': { change: totals({ chargesCents: 1 }), with: ['BR-CO-13'] },
  'BR-CO-13': { change: totals({ netCents: 9999, grossCents: 11_899, payableCents: 11_899 }) },
  'BR-CO-14': { change: totals({ taxCents: 1901, grossCents: 11_901, payableCents: 11_901 }) },
  'BR-CO-15': { change: totals({ grossCents: 11_901, payableCents: 11_901 }) },
  'BR-CO-16': { change: totals({ payableCents: 11_901 }) },
  'BR-CO-17': {
    change: (facts) => ({
      vat: facts.vat.map((row) => ({ ...row, taxCents: 2000 })),
      totals: { ...facts.totals, taxCents: 2000, grossCents: 12_000, payableCents: 12_000 },
    }),
  },
  'BR-CO-18': { change: () => ({ vat: [] }) },
  'BR-CO-25': { change: () => ({ dueOn: null, terms: null }) },
  'BR-CO-26': { change: sellerIs({ vatNumber: null, taxRegistration: '30/123/45678' }) },
  'BR-CL-01': { change: () => ({ typeCode: '999' as '380' }) },
  'BR-CL-04': { change: () => ({ currency: 'XXX' as Currency }) },
  'BR-CL-11': { change: sellerIs({ legalNumber: '1', legalScheme: '9999' }) },
  'BR-CL-14': { change: buyerIs({ country: 'France' }) },
  'BR-CL-16': { change: () => ({ payment: { code: '99' as '1', reference: 'x' } }) },
  'BR-CL-17': {
    change: (facts) => ({
      vat: [...facts.vat, { ...facts.vat[0]!, category: 'X' as VatCategory, netCents: 0, taxCents: 0 }],
    }),
  },
  'BR-CL-18': {
    change: (facts) => ({
      lines: [...facts.lines, { ...facts.lines[0]!, category: 'X' as VatCategory, amountCents: 0 }],
    }),
  },
  'BR-CL-22': { change: (facts) => ({ vat: withReason(facts.vat, 'because') }), with: ['BR-S-10'] },
  'BR-CL-23': { change: line({ unit: 'QQQ' }) },
  'BR-CL-25': { change: buyerIs({ endpoint: { id: 'x', scheme: '9999' } }) },
  R003: { profile: 'peppol_bis3', change: () => ({ buyerReference: null, orderNumber: null }) },
  R010: { profile: 'peppol_bis3', change: buyerIs({ endpoint: null }) },
  R020: { profile: 'peppol_bis3', change: sellerIs({ endpoint: null }) },
  R061: { profile: 'peppol_bis3', change: () => ({ payment: { ...mandate, mandate: '' } }) },
  R110: {
    profile: 'peppol_bis3',
    change: line({ period: { from: day('2026-02-01'), to: day('2026-03-31') } }),
  },
  R111: {
    profile: 'peppol_bis3',
    change: line({ period: { from: day('2026-03-01'), to: day('2026-04-30') } }),
  },
  R120: { profile: 'peppol_bis3', change: line({ quantity: decimal(2) }) },
  P0100: { profile: 'peppol_bis3', change: () => ({ typeCode: '389' }) },
  P0101: { profile: 'peppol_bis3', change: () => ({ kind: 'CreditNote', typeCode: '261' }) },
  CL008: { profile: 'peppol_bis3', change: buyerIs({ endpoint: { id: 'a@b.example', scheme: 'EM' } }) },
  'COMMON-R040': { profile: 'peppol_bis3', change: buyerIs({ endpoint: { id: '4098765000004', scheme: '0088' } }) },
  'COMMON-R041': { profile: 'peppol_bis3', change: buyerIs({ endpoint: { id: '123456789', scheme: '0192' } }) },
  'COMMON-R042': { profile: 'peppol_bis3', change: buyerIs({ endpoint: { id: '12345678', scheme: '0184' } }) },
  'COMMON-R043': { profile: 'peppol_bis3', change: buyerIs({ endpoint: { id: '0202239952', scheme: '0208' } }) },
  'COMMON-R049': { profile: 'peppol_bis3', change: buyerIs({ endpoint: { id: '5560000002', scheme: '0007' } }) },
  'BR-DE-1': { change: () => ({ payment: null }) },
  'BR-DE-2': { change: contactIs({ name: null, phone: null, email: null }) },
  'BR-DE-3': { change: sellerIs({ city: null }) },
  'BR-DE-4': { change: sellerIs({ zipcode: null }) },
  'BR-DE-5': { change: contactIs({ name: null }) },
  'BR-DE-6': { change: contactIs({ phone: null }) },
  'BR-DE-7': { change: contactIs({ email: null }) },
  'BR-DE-8': { change: buyerIs({ city: null }) },
  'BR-DE-9': { change: buyerIs({ zipcode: null }) },
  'BR-DE-10': { change: () => ({ delivery: { city: null, zipcode: '69001', country: 'FR' } }) },
  'BR-DE-11': { change: () => ({ delivery: { city: 'Lyon', zipcode: null, country: 'FR' } }) },
  'BR-DE-15': { change: () => ({ buyerReference: null }) },
  'BR-DE-16': { change: sellerIs({ vatNumber: null, legalNumber: 'HRB 1' }), with: ['BR-S-02'] },
  'BR-DE-17': { change: () => ({ kind: 'CreditNote', typeCode: '261' }) },
  'BR-DE-18': { change: () => ({ terms: '#SKONTO#TAGE=2#' }) },
  'BR-DE-19': {
    change: () => ({ payment: { code: '58', reference: 'x', account: { id: '12345', bic: null, holder: null } } }),
  },
  'BR-DE-20': { change: () => ({ payment: { ...mandate, debitedAccount: '3000' } }) },
  'BR-DE-27': { change: contactIs({ phone: '12' }) },
  'BR-DE-28': { change: contactIs({ email: 'nobody' }) },
  'BR-DE-30': { change: () => ({ payment: { ...mandate, creditorId: null } }) },
  'BR-DE-31': { change: () => ({ payment: { ...mandate, debitedAccount: null } }) },
};

const withReason = (vat: readonly VatRow[], exemptionCode: string | null): VatRow[] =>
  vat.map((row) => ({ ...row, exemptionCode, exemptionText: null }));

const firstProfileOf = (id: string): Profile => {
  const { profiles } = eDocumentRules.find((rule) => rule.id === id)!;
  return profiles.includes('peppol_bis3') && profiles.length < PROFILES.length ? 'peppol_bis3' : profiles.at(0)!;
};

describe('rules that every profile or some receivers have', () => {
  test.each(Object.entries(breaks))('a document breaks exactly %s', (id, { profile, change, with: along = [] }) => {
    const good = factsOf(profile ?? firstProfileOf(id));
    expect(rulesBroken(good)).toEqual([]);
    expect(rulesBroken({ ...good, ...change(good) }).sort()).toEqual([id, ...along].sort());
  });

  test('the national rules of Germany hold only between two German parties', () => {
    const good = factsOf('peppol_bis3', undefined, undefined, { buyerReference: null, orderNumber: 'PO-1' });
    expect(rulesBroken(good)).toEqual([]);
    expect(rulesBroken({ ...good, buyer: buyer({ country: 'DE' }) })).toEqual(['DE-R-015']);
  });

  const national = eDocumentRules.filter(({ id }) => id.startsWith('DE-R-'));
  test.each(national.map(({ id }) => id))('between German parties a document breaks exactly %s', (id) => {
    const twin = eDocumentRules.find(
      ({ id: other, text, profiles }) =>
        other.startsWith('BR-DE-') &&
        profiles.includes('xrechnung_ubl') &&
        text === national.find((rule) => rule.id === id)!.text &&
        breaks[other] !== undefined &&
        national.filter((rule) => rule.text === text).length === 1,
    )!;
    const { change, with: along = [] } = breaks[twin.id]!;
    const good = factsOf('peppol_bis3', undefined, undefined, { buyer: buyer({ country: 'DE' }), orderNumber: 'PO-1' });
    const changed = change(good);
    const german = changed.buyer ? { ...changed, buyer: { ...changed.buyer, country: 'DE' } } : changed;
    const broken = rulesBroken({ ...good, ...german }).filter((rule) => rule !== 'P0101');
    expect(broken.sort()).toEqual([id, ...along].sort());
  });
});

const treatments: Record<VatCategory, VatTreatment> = {
  S: { category: 'S', exemptionCode: null, exemptionText: null },
  Z: { category: 'Z', exemptionCode: null, exemptionText: null },
  E: { category: 'E', exemptionCode: null, exemptionText: 'exempt' },
  AE: { category: 'AE', exemptionCode: 'VATEX-EU-AE', exemptionText: null },
  K: { category: 'K', exemptionCode: 'VATEX-EU-IC', exemptionText: null },
  G: { category: 'G', exemptionCode: 'VATEX-EU-G', exemptionText: null },
  O: { category: 'O', exemptionCode: 'VATEX-EU-O', exemptionText: null },
};

/** A good document with one line in a category. */
function goodIn(category: VatCategory): DocumentFacts {
  const rate = category === 'S' ? '19' : '0';
  const taxCents = category === 'S' ? 1900 : 0;
  const unnumbered =
    category === 'O'
      ? { seller: seller({ vatNumber: null, identifier: 'DE123456789' }), buyer: buyer({ vatNumber: null }) }
      : {};
  return factsOf(
    'en16931_ubl',
    [amountLine(10_000, rate, 0, treatments[category])],
    stored({ netCents: 10_000, taxCents }),
    { delivery: { city: 'Paris', zipcode: '75001', country: 'FR' }, ...unnumbered },
  );
}

/** The same with an allowance or a charge of 100. */
function withAllowance(category: VatCategory, isCharge: boolean): DocumentFacts {
  const good = goodIn(category);
  const sign = isCharge ? 1 : -1;
  const rate = good.vat[0]!.rate;
  const taxCents = category === 'S' ? (10_000 + sign * 100) * 0.19 : 0;
  return {
    ...good,
    lines: [],
    allowances: [{ isCharge, amountCents: 100, category, rate, reasonCode: null, reason: 'x' }],
    vat: [{ ...good.vat[0]!, netCents: sign * 100, taxCents: sign * (category === 'S' ? 19 : 0) }],
    totals: { ...good.totals, taxCents },
  };
}

const withoutNumbers = (category: VatCategory): Partial<DocumentFacts> =>
  category === 'O' ? { buyer: buyer() } : { seller: seller({ vatNumber: null, identifier: 'x' }), buyer: buyer() };

describe.each(Object.keys(treatments) as VatCategory[])('VAT category %s', (category) => {
  const name = category === 'K' ? 'IC' : category;
  const good = goodIn(category);
  const wrongRate = decimal(category === 'S' ? 0 : 5);

  test('a good document breaks no rule', () => {
    expect(rulesBroken(good)).toEqual([]);
  });

  test('a line without its numbers breaks rule 02 only', () => {
    expect(rulesBroken({ ...good, ...withoutNumbers(category) })).toEqual([`BR-${name}-02`]);
  });

  test.each([
    ['03', '06', false],
    ['04', '07', true],
  ])(
    'an allowance or charge breaks rule %s without its numbers and rule %s with a wrong rate',
    (numbers, rates, isCharge) => {
      const allowed = withAllowance(category, isCharge);
      const of = (facts: DocumentFacts) => rulesBroken(facts).filter((id) => id.startsWith(`BR-${name}-0`));
      expect(of(allowed)).toEqual([]);
      expect(of({ ...allowed, ...withoutNumbers(category) })).toEqual([`BR-${name}-${numbers}`]);
      const wrong = allowed.allowances.map((each) => ({ ...each, rate: wrongRate }));
      expect(of({ ...allowed, allowances: wrong })).toEqual([`BR-${name}-${rates}`, `BR-${name}-08`]);
    },
  );

  test('a line with a wrong rate breaks rule 05, and the base of its row does not fit', () => {
    const lines = good.lines.map((each) => ({ ...each, rate: wrongRate }));
    expect(rulesBroken({ ...good, lines })).toEqual([`BR-${name}-05`, `BR-${name}-08`]);
  });

  test('a base that is not its lines breaks rule 08 only', () => {
    const vat = good.vat.map((row) => ({ ...row, netCents: row.netCents + 1 }));
    expect(rulesBroken({ ...good, vat })).toEqual([`BR-${name}-08`]);
  });

  test('a missing or wrong reason breaks rule 10 only', () => {
    const vat = withReason(good.vat, category === 'S' || category === 'Z' ? 'VATEX-EU-O' : null);
    expect(rulesBroken({ ...good, vat })).toEqual([`BR-${name}-10`]);
  });

  test('a missing row breaks rule 01', () => {
    const other = category === 'Z' ? ('G' as const) : ('Z' as const);
    const vat = [{ ...good.vat[0]!, category: other, netCents: 0, taxCents: 0, rate: decimal(0) }];
    expect(rulesBroken({ ...good, vat: withReason(vat, other === 'G' ? 'VATEX-EU-G' : null) })).toContain(
      `BR-${name}-01`,
    );
  });

  test('a tax in a row that may have none, or no rate in one that needs it, breaks rule 09', () => {
    const vat = good.vat.map((row) =>
      category === 'S' ? { ...row, rate: decimal(0), taxCents: 0 } : { ...row, taxCents: 1 },
    );
    expect(rulesBroken({ ...good, vat })).toContain(`BR-${name}-09`);
  });
});

test('every rule has a document that breaks it', () => {
  const categories = /^BR-(S|Z|E|AE|IC|G|O)-(0[1-9]|10)$/;
  const elsewhere = ['BR-IC-11', 'BR-IC-12', 'BR-O-11'];
  const untested = eDocumentRules
    .map(({ id }) => id)
    .filter((id) => !(id in breaks) && !categories.test(id) && !elsewhere.includes(id) && !id.startsWith('DE-R-'));
  expect(untested).toEqual([]);
});

/** What a party may get wrong on either side. */
const partyFaults: [rule: string, fields: Parameters<typeof buyer>[0], field: string][] = [
  ['CL008', { endpoint: { id: 'a@b.example', scheme: 'EM' } }, 'e_invoicing.endpoint_scheme'],
  ['BR-CL-25', { endpoint: { id: 'x', scheme: '9999' } }, 'e_invoicing.endpoint_scheme'],
  ['COMMON-R040', { endpoint: { id: '4098765000004', scheme: '0088' } }, 'e_invoicing.endpoint_id'],
  ['COMMON-R041', { endpoint: { id: '123456789', scheme: '0192' } }, 'e_invoicing.endpoint_id'],
  ['COMMON-R042', { endpoint: { id: '12345678', scheme: '0184' } }, 'e_invoicing.endpoint_id'],
  ['COMMON-R043', { endpoint: { id: '0202239952', scheme: '0208' } }, 'e_invoicing.endpoint_id'],
  ['COMMON-R049', { endpoint: { id: '5560000002', scheme: '0007' } }, 'e_invoicing.endpoint_id'],
  ['COMMON-R040', { legalNumber: '4098765000004', legalScheme: '0088' }, 'legal_number'],
  ['COMMON-R041', { legalNumber: '123456789', legalScheme: '0192' }, 'legal_number'],
  ['COMMON-R043', { legalNumber: '0202.239.951', legalScheme: '0208' }, 'legal_number'],
  ['COMMON-R049', { legalNumber: '5560000002', legalScheme: '0007' }, 'legal_number'],
  ['BR-CO-09', { vatNumber: '123456789' }, 'tax_identification_number'],
  ['BR-CL-11', { legalNumber: '1', legalScheme: 'SIREN' }, 'e_invoicing.legal_scheme'],
  ['BR-CL-14', { country: 'France' }, 'country'],
];

describe.each(partyFaults)('what breaks %s', (rule, fields, field) => {
  const known = (facts: DocumentFacts) => problemsOf(facts).filter((problem) => problem.rule === rule);

  test('is a problem of the billing entity if its seller says so', () => {
    const facts = factsOf('peppol_bis3', undefined, undefined, { seller: seller(fields) });
    expect(known(facts)).toMatchObject([{ resource: 'billing_entity', field }]);
  });

  test('is a problem of the customer if its buyer says so', () => {
    const facts = factsOf('peppol_bis3', undefined, undefined, { buyer: buyer(fields) });
    expect(known(facts)).toMatchObject([{ resource: 'customer', field }]);
  });

  test('is a problem of each if both do', () => {
    const facts = factsOf('peppol_bis3', undefined, undefined, { seller: seller(fields), buyer: buyer(fields) });
    expect(known(facts)).toMatchObject([{ resource: 'billing_entity' }, { resource: 'customer' }]);
  });
});

// Golden cases of docs/rules/e-documents.md.
describe('golden cases of electronic documents', () => {
  test('a reverse charge without the buyer’s VAT number names the number (FI36)', () => {
    const facts = { ...goodIn('AE'), buyer: buyer({ vatNumber: null }) };
    expect(problemsOf(facts)).toMatchObject([
      { rule: 'BR-AE-02', severity: 'error', resource: 'customer', field: 'tax_identification_number' },
    ]);
  });

  test('a taxed line beside one outside the tax is refused (FI36)', () => {
    const lines = [amountLine(10_000, '0', 0, treatments.O), amountLine(1000, '19')];
    const facts = factsOf('en16931_ubl', lines, stored({ netCents: 11_000, taxCents: 190 }), {
      seller: seller({ vatNumber: null, identifier: 'x', taxRegistration: '30/1' }),
      buyer: buyer({ vatNumber: null }),
    });
    expect(rulesBroken(facts)).toEqual(['BR-O-11']);
  });

  test('a top-up outside the tax is ready as XRechnung, and not of a seller without any number (FI37)', () => {
    const facts: DocumentFacts = { ...goodIn('O'), profile: 'xrechnung_ubl' };
    expect(rulesBroken(facts)).toEqual([]);
    expect(rulesBroken({ ...facts, seller: { ...facts.seller, identifier: null } })).toEqual(['BR-CO-26']);
  });

  test('mail is an address for XRechnung but not for Peppol, which asks for one (FI38)', () => {
    const byMail = { buyer: buyer({ endpoint: { id: 'a@b.example', scheme: 'EM' } }) };
    expect(rulesBroken({ ...factsOf('peppol_bis3'), ...byMail })).toEqual(['CL008']);
    expect(rulesBroken({ ...factsOf('xrechnung_ubl'), ...byMail })).toEqual([]);
    expect(rulesBroken({ ...factsOf('peppol_bis3'), buyer: buyer({ endpoint: null }) })).toEqual(['R010']);
  });

  test('Peppol takes an order for a buyer reference, XRechnung does not (FI39)', () => {
    const neither = { buyerReference: null, orderNumber: null };
    const order = { buyerReference: null, orderNumber: 'PO-1' };
    expect(rulesBroken({ ...factsOf('peppol_bis3'), ...neither })).toEqual(['R003']);
    expect(rulesBroken({ ...factsOf('xrechnung_ubl'), ...neither })).toEqual(['BR-DE-15']);
    expect(rulesBroken({ ...factsOf('peppol_bis3'), ...order })).toEqual([]);
    expect(rulesBroken({ ...factsOf('xrechnung_ubl'), ...order })).toEqual(['BR-DE-15']);
  });

  test('a currency of three decimals has no electronic document (FI42)', () => {
    expect(rulesBroken({ ...factsOf('facturx'), currency: 'KWD' })).toEqual(['currency_not_representable']);
  });

  test('Peppol takes no self-billed documents (FI43)', () => {
    expect(rulesBroken({ ...factsOf('peppol_bis3'), typeCode: '389' })).toEqual(['P0100']);
    expect(rulesBroken({ ...factsOf('peppol_bis3'), kind: 'CreditNote', typeCode: '261' })).toEqual(['P0101']);
  });

  test('a supply within the Union states the country of delivery and its period (FI43)', () => {
    expect(rulesBroken({ ...goodIn('K'), delivery: null })).toEqual(['BR-IC-12']);
    expect(rulesBroken({ ...goodIn('K'), period: null })).toEqual(['BR-IC-11']);
  });

  test('a problem of a self-billed document names the record of its seller, the customer', () => {
    const facts: DocumentFacts = { ...factsOf('en16931_ubl'), typeCode: '389', seller: seller({ country: null }) };
    expect(problemsOf(facts)).toMatchObject([{ rule: 'BR-09', resource: 'customer', field: 'country' }]);
  });

  test('a warning does not keep a document from going out', () => {
    const problems = problemsOf({
      ...factsOf('xrechnung_ubl'),
      ...breaks['BR-DE-28']!.change(factsOf('xrechnung_ubl')),
    });
    expect(problems).toMatchObject([{ rule: 'BR-DE-28', severity: 'warning' }]);
    expect(isReady(problems)).toBe(true);
    expect(isReady(problemsOf(factsOf('en16931_ubl', undefined, undefined, { number: '' })))).toBe(false);
  });
});
