import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type GivenBack, type GivingFee, giveBack, type Taken } from '../../../src/engine/corrections/give-back.ts';
import type { ActiveCoupon } from '../../../src/engine/credits/coupon.ts';
import { alignedTotal, noteAmounts } from '../../../src/engine/credits/credit-note-amounts.ts';
import { type Draft, newDraft } from '../../../src/engine/invoices/draft.ts';
import { computeInvoice } from '../../../src/engine/invoices/invoice-steps.ts';
import { type ProgressiveCredit, progressiveCredit } from '../../../src/engine/invoices/progressive-credit.ts';
import {
  type BilledFee,
  type CreditingNote,
  givenThrough,
  type NotedInvoice,
  restsOfFees,
} from '../../../src/engine/invoices/progressive-rest.ts';
import { cents, roundToCents } from '../../../src/engine/money/cents.ts';
import { type Decimal, decimal } from '../../../src/engine/money/decimal.ts';
import { inLongRun } from '../../support/long-run.ts';

// The law of progressive-billing.md#made-anew: invoices less their notes come to the price of the usage, whatever
// invoices were voided and made anew. Usage of groups rises and falls, each rise of the whole is billed progressively,
// and then the month. Amounts are tens of cents and the tax is 10 %, so that nothing is rounded.
const VAT = { id: 'vat', code: 'vat', name: 'VAT', description: null, rate: decimal(10) };
const CENTS = 10;
/** Halves of cents of coupons and of the notes that share them. */
const ROUNDING_CENTS = 3;

interface Issued {
  /** Its place among the invoices of the period, which one made anew keeps. */
  place: number;
  isMonth: boolean;
  isVoided: boolean;
  draft: Draft;
  /** The place of the invoice that it is credited with. */
  creditedWith: Issued | undefined;
  notes: (CreditingNote & { givenFor: readonly Issued[] })[];
  /** What notes gave back: net, taxes, and of each fee in cents. */
  given: { net: number; taxes: number; items: Map<string, number>; amounts: ReturnType<typeof noteAmounts>[] };
}

const itemOf = ({ feeId, preciseAmountCents, forFeeIds: feeIds, cents: partCents }: GivenBack) => ({
  feeId,
  preciseAmountCents,
  givenFor: feeIds === null ? undefined : { feeIds, partCents },
});
const groupOf = (key: string): string => key.split(':')[1]!;

interface Coupon {
  percent: number;
  /** It lowers the first invoice of the period alone. */
  isOnce: boolean;
}

class Period {
  issued: Issued[] = [];
  private readonly coupon: Coupon | null;
  private count = 0;
  /** What was given back of fees for those that took them over, by both. */
  private parts = new Map<string, Map<string, number>>();

  constructor(coupon: Coupon | null) {
    this.coupon = coupon;
  }

  standing(): Issued[] {
    return this.issued.filter(({ isVoided }) => !isVoided).sort((a, b) => a.place - b.place);
  }

  bill(amounts: ReadonlyMap<string, number>, { isMonth, place }: { isMonth: boolean; place: number }): Issued {
    this.count += 1;
    const id = `${this.count}`;
    const fees = [...amounts].map(([group, amount]) => ({
      key: `${id}:${group}`,
      amountCents: cents(amount),
      preciseAmountCents: decimal(amount),
      taxes: [VAT],
    }));
    const newest = this.standing()
      .filter((each) => !each.isMonth && each.place < place)
      .at(-1);
    const credit = newest && this.creditOf(newest, fees, place);
    if (newest && credit && credit.excessCents > 0) this.giveExcess(newest, credit);
    const draft = computeInvoice(
      newDraft({
        invoiceType: isMonth ? 'subscription' : 'progressive_billing',
        isFinalizing: true,
        keepsZeroAmount: true,
        fees,
        progressiveCredits: credit && credit.amountCents > 0 ? [credit] : [],
        coupons: {
          currency: 'EUR',
          active: this.coupon && (place === 1 || !this.coupon.isOnce) ? [active(this.coupon)] : [],
        },
      }),
    );
    const made: Issued = {
      place,
      isMonth,
      isVoided: false,
      draft,
      creditedWith: credit && credit.amountCents > 0 ? newest : undefined,
      notes: [],
      given: { net: 0, taxes: 0, items: new Map(), amounts: [] },
    };
    this.issued.push(made);
    return made;
  }

  /** Voids an invoice and makes it anew; false where its usage was billed since without a credit for it. */
  makeAnew(source: Issued): boolean {
    const next = this.standing().find(({ place }) => place > source.place);
    if (next && next.creditedWith?.place !== source.place) return false;
    source.isVoided = true;
    const amounts = new Map(source.draft.fees.map(({ key, amountCents }) => [groupOf(key), amountCents as number]));
    this.bill(amounts, source);
    return true;
  }

  /** Each fee with its parts, where those of voided invoices are those that stand for them. */
  private feesOf({ draft }: Issued): BilledFee[] {
    return draft.fees.map((fee) => ({
      ...fee,
      id: fee.key,
      parts: fee.progressiveParts.map((part) => ({ ...part, feeId: this.standsFor(part.feeId) })),
    }));
  }

  private ownerOf(key: string): Issued {
    return this.issued.find(({ draft }) => draft.fees.some((fee) => fee.key === key))!;
  }

  private standsFor(key: string): string {
    const owner = this.ownerOf(key);
    const standing = this.standing().find(({ place }) => place === owner.place) ?? owner;
    return standing.draft.fees.find((fee) => groupOf(fee.key) === groupOf(key))?.key ?? key;
  }

  /** The invoices that an invoice took over, oldest first. */
  private before(invoice: Issued): Issued[] {
    const names = new Set(this.feesOf(invoice).flatMap(({ parts }) => parts.map(({ feeId }) => feeId)));
    const owners = [...new Set([...names].map((name) => this.ownerOf(name)))].sort((a, b) => a.place - b.place);
    return [...new Set(owners.flatMap((owner) => [...this.before(owner), owner]))];
  }

  /** Without what was given back for the invoice of a place, which is made anew and takes the same over. */
  private notesOf = ({ notes }: Issued, place: number) =>
    notes.filter(({ givenFor }) => givenFor.every((invoice) => invoice.place !== place));

  private noted = (invoice: Issued, place: number): NotedInvoice => ({
    fees: this.feesOf(invoice),
    notes: this.notesOf(invoice, place).map((note) => ({
      ...note,
      items: note.items.map(({ givenFor, ...item }) => ({
        ...item,
        givenFor: givenFor && { ...givenFor, feeIds: givenFor.feeIds.map((id) => this.standsFor(id)) },
      })),
    })),
  });

  private creditOf(
    newest: Issued,
    fees: readonly { key: string; amountCents: ReturnType<typeof cents> }[],
    place: number,
  ) {
    const noted = this.noted(newest, place);
    const through = givenThrough(
      noted.fees,
      this.before(newest).map((each) => this.noted(each, place)),
    );
    const users = this.standing().filter(({ creditedWith }) => creditedWith === newest);
    const drawn = users.flatMap(({ draft }) => draft.fees.flatMap(({ progressiveParts }) => progressiveParts));
    const rests = restsOfFees(noted, drawn, through);
    const { feesAmountCents, couponsAmountCents } = newest.draft;
    let left: Decimal = decimal(feesAmountCents - couponsAmountCents);
    for (const { draft } of users) left = left.minus(draft.progressiveBillingCreditAmountCents);
    for (const { creditCents } of noted.notes) left = left.minus(creditCents);
    for (const { key } of newest.draft.fees) {
      const given = through.get(key);
      if (given) left = left.minus(given.creditCents).minus(given.taxesCents);
      left = left.minus(rests.get(key)!.noted.withheldCents);
    }
    const usage = (key: string) => ({ chargeId: 'charge', usageKey: groupOf(key) });
    return progressiveCredit(
      {
        id: newest.draft.fees[0]?.key ?? 'none',
        leftCents: left,
        fees: newest.draft.fees.map(({ key, amountCents }) => ({
          id: key,
          ...usage(key),
          amountCents,
          ...rests.get(key)!,
        })),
      },
      fees.map(({ key, amountCents }) => ({ key, ...usage(key), amountCents })),
    );
  }

  private giveExcess(newest: Issued, { excessCents, fallen }: ProgressiveCredit): void {
    const invoices = [...this.before(newest), newest];
    const fees = new Map(
      invoices.flatMap((invoice) => this.feesOf(invoice).map((fee) => [fee.id, this.givingFee(invoice, fee)])),
    );
    const greatest = [...newest.draft.fees].sort((a, b) => b.amountCents - a.amountCents).map(({ key }) => key);
    const taken: Taken = { items: new Map(), parts: new Map() };
    const given = [];
    let rest: number = excessCents;
    for (const key of greatest) {
      const wanted = Math.min(rest, fallen.get(key) ?? 0);
      if (wanted > 0) given.push(...giveBack(wanted, [fees.get(key)!], { fees, taken }));
      rest -= wanted;
    }
    rest = given.reduce((open, each) => open - each.cents, excessCents as number);
    if (rest > 0)
      given.push(
        ...giveBack(
          rest,
          greatest.map((key) => fees.get(key)!),
          { fees, taken },
        ),
      );
    for (const invoice of invoices) {
      const own = given.filter(({ feeId }) => invoice.draft.fees.some(({ key }) => key === feeId));
      if (own.length > 0) this.note(invoice, own);
    }
    for (const { feeId, forFeeIds, cents: part } of given)
      for (const [index, taker] of (forFeeIds ?? []).entries()) {
        const known = this.parts.get(taker) ?? new Map<string, number>();
        const of = forFeeIds![index + 1] ?? feeId;
        this.parts.set(taker, known.set(of, (known.get(of) ?? 0) + part));
      }
  }

  private givingFee(invoice: Issued, fee: BilledFee): GivingFee {
    const own = [...this.parts].flatMap(([taker, parts]) => (this.standsFor(taker) === fee.id ? [...parts] : []));
    const givenParts = own.map(([key, part]) => [this.standsFor(key), part] as const);
    const creditableCents = invoice.isVoided ? 0 : fee.amountCents - (invoice.given.items.get(fee.id) ?? 0);
    return { ...fee, taxesRate: VAT.rate, creditableCents, givenParts: new Map(givenParts) };
  }

  private note({ draft, notes, given }: Issued, items: readonly GivenBack[]): void {
    for (const { feeId, preciseAmountCents } of items)
      given.items.set(feeId, (given.items.get(feeId) ?? 0) + roundToCents(preciseAmountCents));
    const isTaken = draft.fees.every(({ key, amountCents }) => amountCents <= (given.items.get(key) ?? 0));
    const amounts = noteAmounts(
      items.map(({ feeId, preciseAmountCents }) => ({
        fee: draft.fees.find(({ key }) => key === feeId)!,
        preciseAmountCents,
      })),
      isTaken ? given.amounts : [],
      {
        net: { cents: cents(draft.subTotalExcludingTaxesAmountCents - given.net), isTaken },
        taxes: { cents: cents(draft.taxesAmountCents - given.taxes), isTaken },
      },
    );
    given.amounts.push(amounts);
    given.net += amounts.subTotalExcludingTaxesAmountCents;
    given.taxes += amounts.taxesAmountCents;
    const total = alignedTotal(amounts);
    const givenFor = items.flatMap(({ forFeeIds }) => (forFeeIds ?? []).map((key) => this.ownerOf(key)));
    notes.push({
      creditCents: total,
      taxesCents: amounts.taxesAmountCents,
      totalCents: total,
      items: items.map(itemOf),
      givenFor,
    });
  }

  /** What invoices billed less what their notes gave back: without tax, and the tax. */
  sum(): [net: number, taxes: number] {
    const standing = this.standing();
    return [
      standing.reduce((sum, { draft, given }) => sum + draft.subTotalExcludingTaxesAmountCents - given.net, 0),
      standing.reduce((sum, { draft, given }) => sum + draft.taxesAmountCents - given.taxes, 0),
    ];
  }
}

const active = ({ percent }: Coupon): ActiveCoupon => ({
  id: 'coupon',
  code: 'coupon',
  frequency: 'forever',
  limit: 'none',
  eligible: new Set(),
  worth: { type: 'percentage', rate: decimal(percent) },
  periodsLeft: null,
});

const change = fc.record({ group: fc.nat({ max: 2 }), by: fc.integer({ min: -150, max: 200 }) });
const coupons = fc.record({ percent: fc.constantFrom(10, 20, 50), isOnce: fc.boolean() });
const worlds = (groups: number, hasCoupon: boolean) =>
  fc.record({
    groups: fc.constant(groups),
    coupon: hasCoupon ? coupons : fc.constant(null),
    days: fc.array(
      fc.record({ changes: fc.array(change, { minLength: 1, maxLength: 3 }), anew: fc.option(fc.nat({ max: 3 })) }),
      { minLength: 1, maxLength: 5 },
    ),
    last: fc.array(change, { maxLength: 3 }),
    anew: fc.array(fc.nat({ max: 5 }), { maxLength: 5 }),
  });

type World = ReturnType<typeof worlds> extends fc.Arbitrary<infer Value> ? Value : never;

function play({ groups, coupon, days, last, anew }: World): void {
  const period = new Period(coupon);
  const usage = new Map<string, number>();
  const apply = (changes: readonly { group: number; by: number }[]) => {
    for (const { group, by } of changes) {
      const name = `group-${group % groups}`;
      usage.set(name, Math.max((usage.get(name) ?? 0) + by * CENTS, 0));
    }
  };
  const whole = () => [...usage.values()].reduce((sum, amount) => sum + amount, 0);
  const remake = (nth: number) => {
    const standing = period.standing();
    const chosen = standing[nth % Math.max(standing.length, 1)];
    // What notes gave back of an invoice stays given back when it is voided.
    if (chosen && chosen.notes.length === 0) period.makeAnew(chosen);
  };
  let billed = 0;
  let place = 0;
  for (const { changes, anew: nth } of days) {
    apply(changes);
    if (whole() > billed) {
      billed = whole();
      place += 1;
      period.bill(new Map(usage), { isMonth: false, place });
    }
    if (nth !== null) remake(nth);
  }
  apply(last);
  place += 1;
  period.bill(new Map(usage), { isMonth: true, place });
  const before = period.sum();
  const check = () => {
    const [net, taxes] = period.sum();
    // What a coupon takes off progressive invoices counts again later, so that only what is made anew is held.
    if (coupon) return expect(Math.abs(net + taxes - before[0] - before[1])).toBeLessThanOrEqual(ROUNDING_CENTS);
    expect(net).toBe(whole());
    // Usage that moved to another group is taxed there again.
    if (groups === 1) expect(taxes).toBe(whole() / 10);
    else expect(taxes).toBeGreaterThanOrEqual(0);
  };
  check();
  for (const nth of anew) {
    remake(nth);
    check();
  }
}

const { RUNS = String(inLongRun(500, 150)), SEED = '20261123' } = process.env;

test.each([
  [1, false],
  [3, false],
  [1, true],
  [3, true],
])('whatever is made anew, a period comes to the price of its usage in %i groups; with a coupon: %s', (groups, has) => {
  fc.assert(fc.property(worlds(groups, has), play), { numRuns: Number(RUNS), seed: Number(SEED) });
});
