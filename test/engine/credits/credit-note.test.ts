import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { alignedTotal, type CreditedFee, noteAmounts } from '../../../src/engine/credits/credit-note-amounts.ts';
import {
  creditableOfInvoice,
  type NotedInvoice,
  noteFaults,
  offsettableOfInvoice,
  refundableOfInvoice,
} from '../../../src/engine/credits/credit-note-limits.ts';
import { alignParts, terminationParts } from '../../../src/engine/credits/credit-note-parts.ts';
import { CREDIT_MOVES, CREDIT_STATUSES, canCreditMove } from '../../../src/engine/credits/credit-note-states.ts';
import { unusedDays } from '../../../src/engine/credits/credit-note-unused-days.ts';
import { useCreditNotes } from '../../../src/engine/credits/credit-note-use.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal, ZERO } from '../../../src/engine/money/decimal.ts';

const day = (text: string) => Temporal.PlainDate.from(text);
const tax = (rate: string, code = `t${rate}`) => ({ id: code, code, name: code, description: null, rate });
const fee = (amount: number, rates: string[] = [], coupon: string | number = 0): CreditedFee => ({
  amountCents: cents(amount),
  preciseCouponsAmountCents: decimal(coupon),
  taxes: rates.map((rate) => tax(rate)),
});
const item = (of: CreditedFee, amount: string | number) => ({ fee: of, preciseAmountCents: decimal(amount) });
const parts = (credit: number, refund = 0, offset = 0) => ({
  creditCents: cents(credit),
  refundCents: cents(refund),
  offsetCents: cents(offset),
});

describe('amounts of a note (credit-note-amounts.md#rounding, golden-money.md 34 to 40)', () => {
  test('an item bears its share of the coupons (golden case 35)', () => {
    const amounts = noteAmounts([item(fee(39900, ['20'], 25000), 26260)]);
    expect(amounts).toMatchObject({
      couponsAdjustmentAmountCents: 16454,
      subTotalExcludingTaxesAmountCents: 9806,
      taxesAmountCents: 1961,
    });
    expect(amounts.preciseCouponsAdjustmentAmountCents.toFixed()).toBe('16453.63409');
    expect(amounts.preciseTaxesAmountCents.toFixed()).toBe('1961.27318');
    expect(alignedTotal(amounts)).toBe(11767);
  });

  test('two taxes are weighted by the amounts they apply to (golden case 34)', () => {
    const [entity, extra] = [tax('10', 'entity'), tax('10', 'extra')];
    const amounts = noteAmounts([
      item({ ...fee(17900), taxes: [entity] }, 17900),
      item({ ...fee(39900, [], 25000), taxes: [entity, extra] }, 39900),
    ]);
    expect(amounts).toMatchObject({
      couponsAdjustmentAmountCents: 25000,
      subTotalExcludingTaxesAmountCents: 32800,
      taxesAmountCents: 4770,
    });
    expect(amounts.taxesRate.toFixed()).toBe('14.54268');
    expect(alignedTotal(amounts)).toBe(37570);
  });

  test('the last credit note corrects the rounding of the earlier ones (golden case 36)', () => {
    const of = fee(6833, ['20']);
    const first = noteAmounts([item(of, 6833)]);
    const last = noteAmounts([item(of, 6833)], [first]);
    expect([alignedTotal(first), alignedTotal(last)]).toEqual([8200, 8199]);
    expect(last.preciseTaxesAmountCents.toFixed()).toBe('1366.2');
  });

  test('seven credit notes give back the invoice to the cent (golden case 37)', () => {
    const of = fee(6833, ['20']);
    const totals: number[] = [];
    const given: ReturnType<typeof noteAmounts>[] = [];
    for (const amount of [6833, 6833, 6833, 1367, 2233, 3233]) {
      const amounts = noteAmounts([item(of, amount)], amount === 3233 ? given : []);
      given.push(amounts);
      totals.push(alignedTotal(amounts));
    }
    expect(totals).toEqual([8200, 8200, 8200, 1640, 2680, 3878]);
    expect(totals.reduce((a, b) => a + b, 0)).toBe(32798);
  });

  test('a surplus cent is taken from the credit, and the rest of the fee gets it back (golden cases 38, 39)', () => {
    const of = fee(76900, ['20']);
    const first = noteAmounts([item(of, 72686)]);
    expect(alignParts(parts(87224), first)).toEqual(parts(87223));
    const rest = noteAmounts([item(of, 4214)], [first]);
    expect(rest.taxesAmountCents).toBe(843);
    expect(alignedTotal(rest)).toBe(5057);
  });

  test('a missing cent is added to the credit, else to the refund, else to the offset', () => {
    const amounts = noteAmounts([item(fee(10, ['20'], 5), 10), item(fee(10, ['20'], 5), 5)]);
    expect(amounts).toMatchObject({
      couponsAdjustmentAmountCents: 8,
      subTotalExcludingTaxesAmountCents: 8,
      taxesAmountCents: 2,
    });
    expect(alignParts(parts(6, 3), amounts)).toEqual(parts(7, 3));
    expect(alignParts(parts(0, 9), amounts)).toEqual(parts(0, 10));
    expect(alignParts(parts(0, 0, 9), amounts)).toEqual(parts(0, 0, 10));
  });

  test('a fee of 0 has no share of a credit note', () => {
    expect(noteAmounts([item(fee(0, ['20']), 0)]).preciseTotalAmountCents.toFixed()).toBe('0');
  });
});

describe('unused days (credit-note-amounts.md#automatic-notes, golden-money.md 48 to 54)', () => {
  const october = {
    planAmountCents: 3100,
    feeAmountCents: 3100,
    creditedCents: 0,
    period: { first: day('2022-10-01'), last: day('2022-10-31') },
    billedFrom: day('2022-10-01'),
    endedOn: day('2022-10-15'),
    isUpgrade: false,
  };

  test.each([
    ['terminated (48)', {}, '1600', '1500'],
    ['upgraded (49)', { isUpgrade: true }, '1700', '1500'],
    ['in its trial (52)', { trialEndsOn: day('2022-10-17') }, '1500', '0'],
    ['a part was credited before', { creditedCents: 200 }, '1400', '1500'],
    ['on its last day', { endedOn: day('2022-10-31') }, '0', '3100'],
    ['on its last day, upgraded', { endedOn: day('2022-10-31'), isUpgrade: true }, '100', '3100'],
    ['a trial beyond the period', { trialEndsOn: day('2022-12-01') }, '0', '0'],
    ['more was credited than is left', { creditedCents: 2000 }, '0', '1500'],
    ['no more than was billed', { feeAmountCents: 900 }, '900', '1500'],
  ])('unused days are credited: %s', (_name, change, unused, used) => {
    const worth = unusedDays({ ...october, ...change });
    expect([worth.unusedCents.toFixed(), worth.usedCents.toFixed()]).toEqual([unused, used]);
  });

  test.each([
    // fee  rate    first         last          ended         item            sub    tax   total
    [20000, '25', '2025-09-18', '2025-10-17', '2025-09-18', '19333.33333', 19333, 4833, 24166],
    [16000, '25', '2025-09-18', '2025-10-17', '2025-09-18', '15466.66666', 15467, 3867, 19334],
    [2999, '23.33', '2025-09-15', '2025-09-21', '2025-09-15', '2570.57142', 2571, 600, 3171],
  ])(
    'unused days are credited with tax: %s at %s %% (golden cases 53, 54)',
    (amount, rate, first, last, ended, expected, subTotal, taxes, total) => {
      const { unusedCents } = unusedDays({
        ...october,
        planAmountCents: amount,
        feeAmountCents: amount,
        period: { first: day(first), last: day(last) },
        billedFrom: day(first),
        endedOn: day(ended),
      });
      const amounts = noteAmounts([item(fee(amount, [rate]), unusedCents.toFixed())]);
      expect(unusedCents.toFixed()).toBe(expected);
      expect(amounts).toMatchObject({ subTotalExcludingTaxesAmountCents: subTotal, taxesAmountCents: taxes });
      expect(alignedTotal(amounts)).toBe(total);
    },
  );

  test.each([
    // choice            total  paid  fee total  invoice  used   parts
    ['refund' as const, 1920, 7440, '3720', 7440, 1800, parts(0, 1920)],
    ['refund' as const, 1920, 5580, '3720', 7440, 1800, parts(930, 990)],
    ['offset' as const, 1920, 930, '3720', 7440, 1800, parts(0, 0, 1920)],
    ['refund' as const, 1680, 5580, '3720', 7440, 1800, parts(690, 990)],
    ['refund' as const, 1409, 5580, '3120', 6840, 1510, parts(374, 1035)],
    ['credit' as const, 1920, 7440, '3720', 7440, 1800, parts(1920)],
  ])(
    'unused days are credited or refunded: %s of %s when %s was paid (golden cases 50, 51)',
    (choice, total, paid, feeTotal, invoiceTotal, used, expected) => {
      const facts = {
        preciseFeeTotalCents: decimal(feeTotal),
        invoiceTotalWithTaxesCents: invoiceTotal,
        invoicePaidCents: paid,
        usedCents: cents(used),
        refundStepCents: 1,
        refundableCents: paid,
      };
      expect(terminationParts(choice, cents(total), facts)).toEqual(expected);
    },
  );
});

describe('what is left of an invoice (credit-note-amounts.md#creation, credit-note-amounts.md#what-is-left)', () => {
  const invoice: NotedInvoice = {
    isDraft: false,
    isVoided: false,
    isTopUp: false,
    paymentStatus: 'pending',
    totalCents: 37570,
    totalPaidCents: 1200,
    writtenOffCents: 0,
    billedCents: 37570,
    refundStepCents: 1,
    noted: parts(0),
  };
  const asked = {
    invoice,
    parts: parts(11767),
    preciseTotalCents: decimal('11767.6'),
    feesWithTaxesCents: cents(67670),
  };

  test('a refund is what the provider can give back, and the rest of an automatic note becomes credit', () => {
    const paid = { ...invoice, paymentStatus: 'succeeded' as const, totalPaidCents: 1204, refundStepCents: 10 };
    expect(refundableOfInvoice(paid, cents(1204))).toBe(1200);
    expect(noteFaults({ ...asked, invoice: paid, parts: parts(0, 1195) })).toMatchObject({
      refund_amount_cents: ['value_is_out_of_range'],
    });
    const facts = {
      preciseFeeTotalCents: decimal(5124),
      invoiceTotalWithTaxesCents: 5124,
      invoicePaidCents: 5124,
      usedCents: cents(0),
      refundableCents: 5120,
      refundStepCents: 10,
    };
    expect(terminationParts('refund', cents(5124), facts)).toEqual(parts(4, 5120));
  });

  test('an invoice has a creditable, a refundable and an offsettable amount', () => {
    const of = { ...invoice, totalCents: 1200, totalPaidCents: 500, billedCents: 1200 };
    const left = creditableOfInvoice(of, [cents(1000)]);
    expect([left, refundableOfInvoice(of, left), offsettableOfInvoice(of, left)]).toEqual([1200, 500, 700]);
    expect(creditableOfInvoice({ ...of, isDraft: true }, [cents(1)])).toBe(0);
    expect(offsettableOfInvoice({ ...of, isVoided: true }, left)).toBe(0);
  });

  test.each([
    [
      'an unpaid invoice (41)',
      { invoice: { ...invoice, paymentStatus: 'succeeded' as const, totalPaidCents: 0 }, parts: parts(11267, 500) },
      'refund_amount_cents',
      'cannot_refund_unpaid_invoice',
    ],
    ['two cents off (42)', { parts: parts(11766) }, 'base', 'does_not_match_item_amounts'],
    ['nothing (43)', { parts: parts(0), preciseTotalCents: ZERO }, 'base', 'total_amount_must_be_positive'],
    ['more than was paid', { parts: parts(0, 11768) }, 'refund_amount_cents', 'higher_than_remaining_invoice_amount'],
    [
      'more than is due',
      { parts: parts(0, 0, 36371), preciseTotalCents: decimal(36371) },
      'offset_amount_cents',
      'higher_than_remaining_invoice_amount',
    ],
    [
      'a voided invoice',
      { invoice: { ...invoice, isVoided: true }, parts: parts(0, 0, 11768) },
      'offset_amount_cents',
      'higher_than_remaining_invoice_amount',
    ],
    [
      'more than the fees',
      { parts: parts(67672), preciseTotalCents: decimal(67672) },
      'credit_amount_cents',
      'higher_than_remaining_invoice_amount',
    ],
  ])('a credit note is refused: %s', (_name, change, field, code) => {
    expect(noteFaults({ ...asked, ...change })[field]).toContain(code);
  });

  test('a credit note may exceed what is left by one cent', () => {
    expect(noteFaults({ ...asked, parts: parts(11769) })).toEqual({});
  });
});

describe('notes pay later invoices (credit-notes.md#paying-later-invoices)', () => {
  const notes = [
    { id: 'older', balanceCents: cents(300) },
    { id: 'newer', balanceCents: cents(500) },
  ];

  test('the older credit note pays first (golden case 46)', () => {
    const { uses, shares } = useCreditNotes(notes, [{ key: 'fee', totalCents: decimal(600) }], cents(600));
    expect(uses).toEqual([
      { creditNoteId: 'older', amountCents: 300 },
      { creditNoteId: 'newer', amountCents: 300 },
    ]);
    expect(shares.get('fee')!.toFixed()).toBe('600');
  });

  test('what credit notes paid is spread over the fees', () => {
    const fees = [
      { key: 'a', totalCents: decimal(200) },
      { key: 'b', totalCents: decimal(400) },
    ];
    const { shares } = useCreditNotes([notes[0]!], fees, cents(600));
    expect([shares.get('a')!.toFixed(), shares.get('b')!.toFixed()]).toEqual(['100', '200']);
  });

  test('a credit note of zero takes nothing, and an invoice of zero needs nothing', () => {
    expect(useCreditNotes(notes, [], cents(0)).uses).toEqual([]);
  });
});

const creditPairs = CREDIT_STATUSES.flatMap((from) =>
  CREDIT_STATUSES.map((to) => [CREDIT_MOVES[from].includes(to) ? 'may' : 'must not', from, to] as const),
);
test.each(creditPairs)('a credit %s move from %s to %s', (verdict, from, to) => {
  expect(canCreditMove(from, to)).toBe(verdict === 'may');
});
