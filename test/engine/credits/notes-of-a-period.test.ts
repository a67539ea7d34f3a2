import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ActiveCoupon } from '../../../src/engine/credits/coupon.ts';
import { alignedTotal, noteAmounts } from '../../../src/engine/credits/credit-note-amounts.ts';
import { type Draft, newDraft } from '../../../src/engine/invoices/draft.ts';
import { computeInvoice } from '../../../src/engine/invoices/invoice-steps.ts';
import { progressiveCredit } from '../../../src/engine/invoices/progressive-credit.ts';
import {
  type BilledFee,
  billedOf,
  type CreditingNote,
  restsOfFees,
} from '../../../src/engine/invoices/progressive-rest.ts';
import { cents, sumCents } from '../../../src/engine/money/cents.ts';
import { decimal, sum } from '../../../src/engine/money/decimal.ts';
import { inLongRun } from '../../support/long-run.ts';

// The law of credit-note-amounts.md#no-more-than-was-billed, over invoices that follow each other in one period: of
// every invoice, notes in any order never give back more than it billed, and all of them give back that to the cent.
const RATES = ['0', '10', '19.6'];
const CHARGES = ['calls', 'storage'];
const GROUPS = ['red', 'blue', 'green'];
const usage = fc.array(
  fc.record({ charge: fc.nat({ max: 1 }), group: fc.nat({ max: 2 }), cents: fc.integer({ min: 0, max: 3000 }) }),
  { maxLength: 6 },
);
const note = fc.record({
  fee: fc.nat({ max: 5 }),
  share: fc.integer({ min: 1, max: 100 }),
  credited: fc.integer({ min: 0, max: 2 }),
});
const worlds = fc.record({
  rates: fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 2 })),
  coupon: fc.option(
    fc.record({
      isPercentage: fc.boolean(),
      worth: fc.integer({ min: 1, max: 100 }),
      limited: fc.boolean(),
      isOnce: fc.boolean(),
    }),
  ),
  other: fc.integer({ min: 0, max: 2000 }),
  invoices: fc.array(fc.record({ usage, notes: fc.array(note, { maxLength: 4 }) }), { minLength: 2, maxLength: 4 }),
  after: fc.array(note, { maxLength: 6 }),
});
type World = typeof worlds extends fc.Arbitrary<infer Value> ? Value : never;
type Note = World['after'][number];

interface Issued {
  draft: Draft;
  /** Cents that were given back of each fee, and by all notes. */
  taken: Map<string, number>;
  net: number;
  taxes: number;
  earlier: ReturnType<typeof noteAmounts>[];
  crediting: CreditingNote[];
}

const usageKeyOf = (key: string) => key.split(':').slice(1).join(':');

function play({ rates, coupon, other, invoices, after }: World): void {
  const issued: Issued[] = [];
  for (const [nth, { usage: used, notes }] of invoices.entries()) {
    const isLast = nth === invoices.length - 1;
    const totals = new Map<string, number>();
    for (const { charge, group, cents: more } of used) {
      const key = `${nth}:${CHARGES[charge]}:${GROUPS[group]}`;
      totals.set(key, (totals.get(key) ?? 0) + more);
    }
    if (isLast) totals.set(`${nth}:other:`, other);
    const fees = [...totals].map(([key, amount]) => ({
      key,
      amountCents: cents(amount),
      preciseAmountCents: decimal(amount),
      taxes: taxesOf(key, rates),
    }));
    const before = issued.at(-1);
    const draft = computeInvoice(
      newDraft({
        invoiceType: isLast ? 'subscription' : 'progressive_billing',
        isFinalizing: true,
        keepsZeroAmount: true,
        fees,
        progressiveCredits: before ? [creditOf(before, fees)].filter(({ amountCents }) => amountCents > 0) : [],
        coupons: { currency: 'EUR', active: coupon && (!coupon.isOnce || nth === 0) ? [couponOf(coupon, fees)] : [] },
      }),
    );
    expect(
      sum(draft.fees.map((fee) => billedOf(fee)))
        .minus(draft.subTotalExcludingTaxesAmountCents)
        .abs()
        .lt(0.01),
    ).toBe(true);
    const invoice: Issued = { draft, taken: new Map(), net: 0, taxes: 0, earlier: [], crediting: [] };
    issued.push(invoice);
    for (const each of notes) give(invoice, each);
  }
  for (const [nth, each] of after.entries()) give(issued[nth % issued.length]!, each);
  for (const invoice of issued) {
    giveItems(
      invoice,
      invoice.draft.fees.map((fee) => [fee.key, fee.amountCents - (invoice.taken.get(fee.key) ?? 0)]),
    );
    const { subTotalExcludingTaxesAmountCents, taxesAmountCents } = invoice.draft;
    const hasFees = invoice.draft.fees.some(({ amountCents }) => amountCents > 0);
    expect([invoice.net, invoice.taxes]).toEqual(
      hasFees ? [subTotalExcludingTaxesAmountCents, taxesAmountCents] : [0, 0],
    );
  }
}

const taxesOf = (key: string, rates: World['rates']) => {
  const rate = RATES[rates[key.includes('storage') ? 1 : 0]]!;
  return rate === '0' ? [] : [{ id: rate, code: rate, name: rate, description: null, rate: decimal(rate) }];
};

const couponOf = (
  { isPercentage, worth, limited }: NonNullable<World['coupon']>,
  fees: readonly { key: string }[],
): ActiveCoupon => ({
  id: 'coupon',
  code: 'coupon',
  frequency: 'forever',
  limit: limited ? 'metrics' : 'none',
  eligible: new Set(fees.map(({ key }) => key).filter((key) => key.includes('calls'))),
  worth: isPercentage
    ? { type: 'percentage', rate: decimal(worth) }
    : { type: 'fixed_amount', amountCents: cents(worth * 20), currency: 'EUR' },
  periodsLeft: null,
});

function creditOf(before: Issued, fees: readonly { key: string; amountCents: ReturnType<typeof cents> }[]) {
  const { draft, crediting } = before;
  const billed = draft.fees.map((fee): BilledFee => ({ ...fee, id: fee.key, parts: fee.progressiveParts }));
  const rests = restsOfFees({ fees: billed, notes: crediting });
  const credited = crediting.reduce((total, each) => total + each.creditCents, 0);
  const left = draft.feesAmountCents - draft.couponsAmountCents - credited;
  const creditable = (key: string) => ({ chargeId: key.split(':')[1]!, usageKey: usageKeyOf(key) });
  const credit = progressiveCredit(
    {
      id: 'before',
      leftCents: decimal(left),
      fees: draft.fees.map((fee) => ({
        id: fee.key,
        ...creditable(fee.key),
        amountCents: fee.amountCents,
        ...rests.get(fee.key)!,
      })),
    },
    fees.map((fee) => ({ key: fee.key, ...creditable(fee.key), amountCents: fee.amountCents })),
  );
  const parts = [...credit.parts.values()].flat();
  if (credit.amountCents > 0)
    expect(sum(parts.map(({ creditCents }) => creditCents)).toNumber()).toBe(credit.amountCents);
  for (const [id, { borneCents }] of rests)
    expect(
      sumCents(parts.filter(({ feeId }) => feeId === id).map((part) => cents(part.partCents))),
    ).toBeLessThanOrEqual(borneCents);
  return credit;
}

function give(invoice: Issued, { fee, share, credited }: Note): void {
  const { fees } = invoice.draft;
  if (fees.length === 0) return;
  const of = fees[fee % fees.length]!;
  const left = of.amountCents - (invoice.taken.get(of.key) ?? 0);
  giveItems(invoice, [[of.key, Math.ceil((left * share) / 100)]], credited);
}

function giveItems(invoice: Issued, wanted: (readonly [string, number])[], credited = 2): void {
  const items = wanted.filter(([, amount]) => amount > 0);
  if (items.length === 0) return;
  const { fees, subTotalExcludingTaxesAmountCents, taxesAmountCents } = invoice.draft;
  for (const [key, amount] of items) invoice.taken.set(key, (invoice.taken.get(key) ?? 0) + amount);
  const open = fees.filter(({ key, amountCents }) => amountCents > (invoice.taken.get(key) ?? 0));
  const isTaken = open.length === 0;
  const of = (key: string) => fees.find((fee) => fee.key === key)!;
  const amounts = noteAmounts(
    items.map(([key, amount]) => ({ fee: of(key), preciseAmountCents: decimal(amount) })),
    isTaken ? invoice.earlier : [],
    {
      net: { cents: cents(subTotalExcludingTaxesAmountCents - invoice.net), isTaken },
      taxes: {
        cents: cents(taxesAmountCents - invoice.taxes),
        isTaken: open.every(({ taxes }) => taxes.length === 0),
      },
    },
  );
  expect(alignedTotal(amounts)).toBeGreaterThanOrEqual(0);
  invoice.net += amounts.subTotalExcludingTaxesAmountCents;
  invoice.taxes += amounts.taxesAmountCents;
  expect(invoice.net).toBeLessThanOrEqual(subTotalExcludingTaxesAmountCents);
  expect(invoice.taxes).toBeLessThanOrEqual(taxesAmountCents);
  invoice.earlier.push(amounts);
  const total = alignedTotal(amounts);
  // Refunded in part or in full, or credited.
  const creditCents = Math.floor((total * credited) / 2);
  if (creditCents > 0)
    invoice.crediting.push({
      creditCents,
      taxesCents: amounts.taxesAmountCents,
      totalCents: total,
      items: items.map(([feeId, amount]) => ({ feeId, preciseAmountCents: decimal(amount) })),
    });
}

const { RUNS = String(inLongRun(400, 150)), SEED = '20261123' } = process.env;

test('notes of the invoices of a period give back what each billed, in any order, to the cent', () => {
  fc.assert(fc.property(worlds, play), { numRuns: Number(RUNS), seed: Number(SEED) });
});
