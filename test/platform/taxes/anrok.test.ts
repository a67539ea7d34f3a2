import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { anrokEngine } from '../../../src/platform/taxes/anrok.ts';
import type { TaxDocument } from '../../../src/platform/taxes/port.ts';
import { sandboxTaxEngine } from '../../../src/platform/taxes/sandbox.ts';
import { ANROK_KEY, type FakeAnrok, fakeAnrok } from '../../support/fakes/anrok.ts';

let anrok: FakeAnrok;

beforeAll(async () => {
  anrok = await fakeAnrok();
});
afterAll(() => anrok.close());
beforeEach(async () => {
  await anrok.close();
  anrok = await fakeAnrok();
  anrok.products.add('saas');
});

const MOST_MS = 5000;
const NOWHERE = { country: null, line1: null, city: null, region: null, postalCode: null };

const document = (change: Partial<TaxDocument> = {}): TaxDocument => ({
  id: 'svc:invoice-1',
  date: '2026-03-01',
  timezone: 'America/Denver',
  currency: 'USD',
  customer: {
    id: 'svc:customer-1',
    name: 'Acme',
    shipping: NOWHERE,
    billing: { ...NOWHERE, country: 'US', region: 'CO', city: 'Denver', postalCode: '80204' },
    taxIds: [],
  },
  seller: { address: NOWHERE },
  lines: [{ id: 'fee-1', productId: 'saas', quantity: '1', netCents: 15000 }],
  ...change,
});

const engine = (apiKey = ANROK_KEY) => anrokEngine({ apiKey, apiUrl: anrok.url });

describe('Anrok (tax-engines.md#anrok)', () => {
  test('a document is recorded once, with noon of its day in the zone of the seller, and its taxes come back', async () => {
    const outcome = await engine().record(document(), MOST_MS);
    expect(outcome).toMatchObject({
      kind: 'answered',
      answer: {
        lines: [
          {
            id: 'fee-1',
            collectedCents: 722,
            taxes: [{ jurisdiction: 'Denver (local)', name: 'Tax', rate: '0.0481', amountCents: '721.5' }],
            notTaxed: null,
          },
        ],
      },
    });
    await engine().record(document(), MOST_MS);
    expect([...anrok.records.keys()]).toEqual(['svc:invoice-1']);
    expect(anrok.calls[0]).toEqual({
      path: 'createOrUpdate',
      body: {
        id: 'svc:invoice-1',
        currencyCode: 'usd',
        accountingTime: '2026-03-01T19:00:00Z',
        accountingTimeZone: 'America/Denver',
        lineItems: [
          { id: 'fee-1', productExternalId: 'saas', amount: 15000, isTaxIncludedInAmount: false, quantity: '1' },
        ],
        customerAddress: { country: 'US', region: 'CO', city: 'Denver', postalCode: '80204' },
        customerId: 'svc:customer-1',
        customerName: 'Acme',
      },
    });
  });

  test('an estimate leaves no record', async () => {
    const outcome = await engine().estimate(document(), MOST_MS);
    expect(outcome.kind).toBe('answered');
    expect(anrok.records.size).toBe(0);
  });

  test('the shipping address decides before the billing address, and tax ids and the sender go along', async () => {
    const { customer } = document();
    const shipping = { ...NOWHERE, country: 'US', region: 'TX' };
    const outcome = await engine().estimate(
      document({
        customer: { ...customer, shipping, taxIds: ['FR123'] },
        seller: { address: { ...NOWHERE, country: 'US', city: 'Chicago' } },
        lines: [{ id: 'fee-1', productId: 'saas', quantity: '2.5', netCents: 10000 }],
      }),
      MOST_MS,
    );
    expect(outcome).toMatchObject({ kind: 'answered', answer: { lines: [{ collectedCents: 660 }] } });
    expect(anrok.calls[0]!.body).toMatchObject({
      customerAddress: { country: 'US', region: 'TX' },
      customerTaxIds: [{ type: 'genericVatNumber', value: 'FR123' }],
      shipFromAddress: { country: 'US', city: 'Chicago' },
    });
  });

  test('of a zone that Anrok does not know the day itself is sent', async () => {
    const outcome = await engine().estimate(document({ timezone: 'Asia/Karachi' }), MOST_MS);
    expect(outcome.kind).toBe('answered');
    expect(anrok.calls[0]!.body.accountingDate).toBe('2026-03-01');
    expect(anrok.calls[0]!.body.accountingTimeZone).toBeUndefined();
  });

  test('a line that is not taxed names the reason', async () => {
    const { customer } = document();
    const abroad = { ...customer, billing: { ...NOWHERE, country: 'FR' } };
    const outcome = await engine().estimate(document({ customer: abroad }), MOST_MS);
    expect(outcome).toMatchObject({
      answer: { lines: [{ collectedCents: 0, taxes: [], notTaxed: 'not_collecting' }] },
    });
  });

  test.each<[string, Partial<TaxDocument>, string]>([
    [
      'an unknown product',
      { lines: [{ id: 'fee-1', productId: 'other', quantity: '1', netCents: 1 }] },
      'productExternalIdUnknown',
    ],
    [
      'an address without a country',
      { customer: { ...document().customer, billing: NOWHERE } },
      'customerAddressCouldNotResolve',
    ],
    ['a day long ago', { date: '1998-12-30' }, 'taxDateTooFarInPast'],
  ])('%s is refused with its code', async (_case, change, code) => {
    expect(await engine().record(document(change), MOST_MS)).toMatchObject({ kind: 'refused', fault: { code } });
    expect(anrok.records.size).toBe(0);
  });

  test('a currency of four decimals is refused before any call', async () => {
    const outcome = await engine().record(document({ currency: 'CLF' }), MOST_MS);
    expect(outcome).toMatchObject({ kind: 'refused', fault: { code: 'currencyCodeNotSupported' } });
    expect(anrok.calls).toEqual([]);
  });

  test('credentials are checked without leaving a record', async () => {
    expect(await engine().check(MOST_MS)).toMatchObject({ kind: 'answered' });
    expect(await engine('wrong').check(MOST_MS)).toMatchObject({ kind: 'refused', isUnauthorized: true });
    expect(anrok.records.size).toBe(0);
  });

  test('more than ten calls a second are told to wait', async () => {
    const outcomes = await Promise.all(Array.from({ length: 11 }, () => engine().estimate(document(), MOST_MS)));
    const waiting = outcomes.filter(({ kind }) => kind === 'unreachable');
    expect(waiting).toMatchObject([{ fault: { code: 'too_many_requests' }, retryAfterMs: 1000 }]);
  });

  test.each(['away', 'broken'] as const)('an engine that is %s can be asked again', async (mood) => {
    anrok.mood = mood;
    expect(await engine().record(document(), MOST_MS)).toMatchObject({ kind: 'unreachable' });
  });

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const TAX = (change: object) => (found: any) => {
    const [line] = found.lineItems;
    const [juris] = line.jurises;
    const tax = { ...juris.taxes[0], ...change };
    return { ...found, lineItems: [{ ...line, jurises: [{ ...juris, taxes: [tax] }] }] };
  };

  test.each<[string, FakeAnrok['odd']]>([
    ['a rate that is no number', TAX({ taxRate: 'NaN' })],
    ['an endless rate', TAX({ taxRate: 'Infinity' })],
    ['an amount that is null', TAX({ taxAmount: null })],
    ['an amount that is a list', TAX({ taxAmount: ['1'] })],
    ['an empty amount', TAX({ taxAmount: '' })],
    ['two lines with one id', (found) => ({ ...found, lineItems: [found.lineItems[0], found.lineItems[0]] })],
    ['no line', (found) => ({ ...found, lineItems: [] })],
  ])('an answer with %s is one that cannot be read', async (_case, odd) => {
    anrok.mood = 'odd';
    anrok.odd = odd;
    const lines = ['fee-1', 'fee-2'].map((id) => ({ id, productId: 'saas', quantity: '1', netCents: 15000 }));
    for (const asked of [document(), document({ lines })])
      expect(await engine().estimate(asked, MOST_MS)).toMatchObject({
        kind: 'unreachable',
        fault: { code: 'unreadable_answer' },
      });
  });

  test('no answer in time is an engine out of reach', async () => {
    anrok.gate = new Promise(() => {});
    expect(await engine().record(document(), 50)).toMatchObject({ kind: 'unreachable' });
  });

  test('a document is taken back; one that was filed is negated once, under an id of its own', async () => {
    await engine().record(document(), MOST_MS);
    anrok.filed.add('svc:invoice-1');
    expect(await engine().void('svc:invoice-1', MOST_MS)).toMatchObject({ kind: 'filed' });
    expect(await engine().record(document(), MOST_MS)).toMatchObject({ kind: 'filed' });
    for (let again = 0; again < 2; again += 1)
      expect(await engine().negate('svc:invoice-1', 'svc:invoice-1:void', MOST_MS)).toMatchObject({ kind: 'answered' });
    expect(anrok.records.get('svc:invoice-1:void')!.negates).toBe('svc:invoice-1');
    anrok.filed.clear();
    expect(await engine().void('svc:invoice-1', MOST_MS)).toMatchObject({ kind: 'answered' });
    expect(anrok.records.get('svc:invoice-1')!.voided).toBe(true);
  });

  test('taking back what was never recorded is done already', async () => {
    expect(await engine().void('svc:never', MOST_MS)).toMatchObject({ kind: 'answered' });
  });

  test('a note is a record with negative amounts', async () => {
    const note = document({
      id: 'svc:note:1',
      lines: [{ id: 'item-1', productId: 'saas', quantity: '1', netCents: -7500 }],
    });
    expect(await engine().record(note, MOST_MS)).toMatchObject({
      answer: { lines: [{ collectedCents: -361, taxes: [{ amountCents: '-360.75' }] }] },
    });
  });
});

describe('the double of sandboxes (tax-engines.md#the-double-of-sandboxes)', () => {
  const at = (country: string, region: string | null, line1: string | null = null) => {
    const { customer } = document();
    return document({
      customer: { ...customer, billing: { ...NOWHERE, country, region, line1 } },
      lines: [{ id: 'fee-1', productId: 'anything', quantity: '1', netCents: 10000 }],
    });
  };

  test.each([
    ['US', 'CA', 0, 'juris_not_taxed'],
    ['US', 'CO', 481, null],
    ['US', 'NY', 888, null],
    ['US', 'TX', 660, null],
    ['US', 'WA', 1025, null],
    ['GB', null, 2000, null],
    ['FR', null, 0, 'not_collecting'],
  ])('100.00 to %s %s are taxed %s cents', async (country, region, collectedCents, notTaxed) => {
    const outcome = await sandboxTaxEngine().estimate(at(country, region), MOST_MS);
    expect(outcome).toMatchObject({ answer: { lines: [{ collectedCents, notTaxed }] } });
  });

  test('an address with the word fail is refused, one with slow does not answer in time', async () => {
    expect(await sandboxTaxEngine().record(at('US', 'CO', '1 fail street'), MOST_MS)).toMatchObject({
      kind: 'refused',
      fault: { code: 'customerAddressCouldNotResolve' },
    });
    expect(await sandboxTaxEngine().estimate(at('US', 'CO', '1 slow street'), 50)).toMatchObject({
      kind: 'unreachable',
    });
  });
});
