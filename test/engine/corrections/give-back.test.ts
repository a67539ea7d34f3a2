import { expect, test } from 'vitest';
import { type GivingFee, giveBack, type Taken } from '../../../src/engine/corrections/give-back.ts';
import { decimal, ZERO } from '../../../src/engine/money/decimal.ts';

const fee = (id: string, amountCents: number, changes: Partial<GivingFee> = {}): GivingFee => ({
  id,
  amountCents,
  preciseCouponsAmountCents: ZERO,
  untaxedAmountCents: ZERO,
  taxesRate: decimal(10),
  parts: [],
  creditableCents: amountCents,
  givenParts: new Map(),
  ...changes,
});
const part = (feeId: string, partCents: number, creditCents = partCents) => ({
  feeId,
  partCents,
  creditCents: decimal(creditCents),
});
const nothing = (): Taken => ({ items: new Map(), parts: new Map() });
const given = (wanted: number, asked: GivingFee[], behind: GivingFee[], taken: Taken = nothing()) => {
  const fees = new Map([...asked, ...behind].map((each) => [each.id, each]));
  return giveBack(wanted, asked, { fees, taken }).map(({ feeId, cents, preciseAmountCents }) => [
    feeId,
    cents,
    preciseAmountCents.toNumber(),
  ]);
};

// 24.00, of which a progressive invoice had billed 12.00.
const MONTH = fee('month', 2400, { preciseCouponsAmountCents: decimal(1200), parts: [part('before', 1200)] });
const BEFORE = fee('before', 1200);
// 12.00 with a coupon of 5.00 once, so that the month bills 5.00 beyond what is taxed.
const DISCOUNTED = fee('before', 1200, { preciseCouponsAmountCents: decimal(500) });
const UNTAXED = fee('month', 1200, {
  preciseCouponsAmountCents: decimal(1200),
  untaxedAmountCents: decimal(500),
  parts: [part('before', 700)],
});
// What another group has lost, taxed once more.
const MOVED = fee('month', 500, { untaxedAmountCents: decimal(-500), parts: [part('before', 500)] });

// event-corrections.md#usage-billed-progressively, CO14; progressive-billing.md#taken-over.
test.each([
  ['the newest invoice gives back first', 700, [MONTH], [BEFORE], [['month', 700, 1400]]],
  [
    'and then the one before',
    1500,
    [MONTH],
    [BEFORE],
    [
      ['month', 1200, 2400],
      ['before', 300, 300],
    ],
  ],
  [
    'of half a fee that is left',
    2400,
    [{ ...MONTH, creditableCents: 1700 }],
    [BEFORE],
    [
      ['month', 850, 1700],
      ['before', 1200, 1200],
    ],
  ],
  ['no more than is left', 1200, [{ ...BEFORE, creditableCents: 400 }], [], [['before', 400, 400]]],
  [
    'all that a coupon left',
    1200,
    [UNTAXED],
    [DISCOUNTED],
    [
      ['month', 500, 1200],
      ['before', 700, 1200],
    ],
  ],
  ['what was billed beyond the taxed amount first', 250, [UNTAXED], [DISCOUNTED], [['month', 250, 600]]],
  [
    'a tax with the usage that it was charged on',
    200,
    [MOVED],
    [BEFORE],
    [
      ['before', 200, 200],
      ['month', 0, 200],
    ],
  ],
  ['nothing of an invoice that gives nothing back', 700, [{ ...BEFORE, creditableCents: 0 }], [], []],
])('usage is given back: %s', (_name, wanted, asked, behind, expected) => {
  expect(given(wanted, asked, behind)).toEqual(expected);
});

test('what earlier items took is not given back again', () => {
  const taken = nothing();
  given(700, [MONTH], [BEFORE], taken);
  expect(given(1700, [MONTH], [BEFORE], taken)).toEqual([
    ['month', 500, 1000],
    ['before', 1200, 1200],
  ]);
});

test('the last of a fee takes what is less than a cent', () => {
  const third = fee('before', 1000, { preciseCouponsAmountCents: decimal('333.33333') });
  const month = fee('month', 1000, {
    preciseCouponsAmountCents: decimal(1000),
    untaxedAmountCents: decimal('333.33333'),
    parts: [part('before', 667)],
  });
  expect(given(1000, [month], [third])).toEqual([
    ['month', 333, 1000],
    ['before', 667, 1000],
  ]);
});

// 12.00 of red, of which red took over 5.00 and blue 7.00.
test.each([
  ['by earlier notes', new Map([['before', 500]])],
  ['by an earlier call', undefined],
])('what a fee took over is given back once: %s', (_name, earlier) => {
  const red = fee('red', 500, {
    preciseCouponsAmountCents: decimal(500),
    parts: [part('before', 500)],
    ...(earlier ? { givenParts: earlier } : {}),
  });
  const before = fee('before', 1200, earlier ? { creditableCents: 700 } : {});
  const taken = nothing();
  if (!earlier) expect(given(500, [red], [before], taken)).toEqual([['before', 500, 500]]);
  expect(given(300, [red], [before], taken)).toEqual([]);
  const blue = fee('blue', 700, { untaxedAmountCents: decimal(-700), parts: [part('before', 700)] });
  expect(given(700, [blue], [before], taken)).toEqual([
    ['before', 700, 700],
    ['blue', 0, 700],
  ]);
});

test('what a fee took over is given back once, also of the invoice before', () => {
  // 24.00 of red, of which the invoice before had billed 12.00; red took over 10.00 of it and blue 14.00.
  const newest = fee('newest', 2400, { preciseCouponsAmountCents: decimal(1200), parts: [part('before', 1200)] });
  const red = fee('red', 1000, { preciseCouponsAmountCents: decimal(1000), parts: [part('newest', 1000)] });
  const taken = nothing();
  expect(given(1000, [red], [newest, BEFORE], taken)).toEqual([['newest', 1000, 2000]]);
  expect(given(1000, [red], [newest, BEFORE], taken)).toEqual([]);
});
