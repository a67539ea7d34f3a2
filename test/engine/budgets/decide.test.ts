import { expect, test } from 'vitest';
import type { Measure } from '../../../src/engine/budgets/budget.ts';
import { type BudgetStep, decide } from '../../../src/engine/budgets/decide.ts';
import { overrunOf, roomOf, stateOf } from '../../../src/engine/budgets/window-state.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { bookOf, heldIn } from './book.ts';

interface Asked {
  amounts: Record<number, string>;
  hold?: number;
  digest?: string;
  isPartial?: boolean;
  measure?: Measure;
}

const ask = ({ amounts, hold = 0, digest = 'asked', isPartial = false, measure = 'cost' }: Asked): BudgetStep => ({
  step: 'hold',
  hold,
  digest,
  lifeMs: 300_000,
  parts: Object.entries(amounts).map(([window, requested]) => ({
    window: Number(window),
    measure,
    requested: decimal(requested),
  })),
  isPartial,
  reasons: [],
});
const settle = (hold: number, amounts: Record<number, string>, digest = 'used'): BudgetStep => ({
  step: 'settle',
  hold,
  digest,
  counts: Object.entries(amounts).map(([window, amount]) => ({ window: Number(window), amount: decimal(amount) })),
});
const outcomesOf = (outcomes: { outcome: string }[]) => outcomes.map(({ outcome }) => outcome);

test('a hold leaves the limit less what it holds (BU1)', () => {
  const book = bookOf([{ limit: '10000' }]);
  expect(outcomesOf(decide(book, [ask({ amounts: { 0: '8.544' } })]))).toEqual(['allowed']);
  expect(roomOf(book.windows[0]!).toFixed()).toBe('9991.456');
});

test('a hold may take the room to the last digit, and leaves the window open (BU3)', () => {
  const book = bookOf([{ limit: '100', spent: '60', held: '30' }]);
  expect(outcomesOf(decide(book, [ask({ amounts: { 0: '10' } })]))).toEqual(['allowed']);
  expect(roomOf(book.windows[0]!).toFixed()).toBe('0');
  expect(stateOf('hard', book.windows[0]!)).toBe('open');
});

test('a hold of a millionth of a billionth more than the room is refused (BU3)', () => {
  const book = bookOf([{ limit: '100', spent: '60', held: '30' }]);
  const [outcome] = decide(book, [ask({ amounts: { 0: '10.000000000000001' } })]);
  expect(outcome).toEqual({ outcome: 'refused', reasons: ['budget_exceeded'], exceeded: [0] });
  expect(book.windows[0]!.held.toFixed()).toBe('30');
});

test('a released hold gives its room to the next one (BU4)', () => {
  const book = bookOf([{ limit: '100', spent: '70', held: '30' }], [heldIn({ 0: '30' }), undefined]);
  const outcomes = decide(book, [{ step: 'release', hold: 0 }, ask({ amounts: { 0: '25' }, hold: 1 })]);
  expect(outcomesOf(outcomes)).toEqual(['released', 'allowed']);
});

test('what a settlement frees is there for the hold of the same call (BU6)', () => {
  const book = bookOf([{ limit: '100', held: '30' }], [heldIn({ 0: '30' }), undefined]);
  const outcomes = decide(book, [settle(0, { 0: '12' }), ask({ amounts: { 0: '88' }, hold: 1 })]);
  expect(outcomesOf(outcomes)).toEqual(['settled', 'allowed']);
  expect(book.windows.map(({ spent, held }) => [spent.toFixed(), held.toFixed()])).toEqual([['12', '88']]);
});

test('a refused request takes nothing from a smaller one behind it (BU7)', () => {
  const book = bookOf([{ limit: '10' }]);
  const outcomes = decide(book, [ask({ amounts: { 0: '50' } }), ask({ amounts: { 0: '5' }, hold: 1 })]);
  expect(outcomesOf(outcomes)).toEqual(['refused', 'allowed']);
});

test('a request needs room in every budget, and the answer names those without (BU8)', () => {
  // Window 0 is the team's, 1 to 3 are the users'.
  const book = bookOf([{ limit: '100' }, { limit: '40' }, { limit: '40' }, { limit: '40' }]);
  const outcomes = decide(book, [
    ask({ amounts: { 0: '40', 1: '40' }, hold: 0 }),
    ask({ amounts: { 0: '40', 2: '40' }, hold: 1 }),
    ask({ amounts: { 0: '40', 3: '40' }, hold: 2 }),
    ask({ amounts: { 0: '20', 3: '20' }, hold: 2 }),
  ]);
  expect(outcomesOf(outcomes)).toEqual(['allowed', 'allowed', 'refused', 'allowed']);
  expect(outcomes[2]).toMatchObject({ exceeded: [0] });
});

test('a hold whose time is over is free for the next decision, and a late settlement still counts (BU9)', () => {
  const book = bookOf([{ limit: '100', spent: '70', held: '30' }], [heldIn({ 0: '30' }, 0), undefined]);
  const outcomes = decide(book, [ask({ amounts: { 0: '30' }, hold: 1 }), settle(0, { 0: '25' })]);
  expect(outcomes).toMatchObject([{ outcome: 'allowed' }, { outcome: 'settled', isLate: true }]);
  expect(book.windows[0]!.spent.toFixed()).toBe('95');
});

test('a soft budget allows what is beyond its limit and is over (BU11)', () => {
  const book = bookOf([{ limit: '100', spent: '130', isHard: false }]);
  expect(outcomesOf(decide(book, [ask({ amounts: { 0: '5' } })]))).toEqual(['allowed']);
  expect(stateOf('soft', book.windows[0]!)).toBe('over');
});

test('a lower limit blocks and shows what was spent beyond it (BU13)', () => {
  const figures = { limit: decimal('50'), spent: decimal('70'), held: decimal('0') };
  expect([stateOf('hard', figures), overrunOf(figures).toFixed()]).toEqual(['blocked', '20']);
});

test.each([
  ['asked', { outcome: 'allowed', isReplayed: true }],
  ['other', { outcome: 'conflict' }],
])('a key that has a hold is replayed for the same question and a conflict for another: %s (BU16)', (digest, found) => {
  const book = bookOf([{ limit: '100', held: '30' }], [heldIn({ 0: '30' })]);
  expect(decide(book, [ask({ amounts: { 0: '30' }, digest })])).toMatchObject([found]);
  expect(book.windows[0]!.held.toFixed()).toBe('30');
});

test('a settlement beyond its hold is booked in full, and the rest is an overrun (BU18)', () => {
  const book = bookOf([{ limit: '100', spent: '40', held: '50' }], [heldIn({ 0: '50' })]);
  const [outcome] = decide(book, [settle(0, { 0: '62' })]);
  expect(outcome).toMatchObject({ outcome: 'settled', isLate: false });
  expect((outcome as { overrun: { toFixed(): string } }).overrun.toFixed()).toBe('2');
  expect(book.windows[0]!.spent.toFixed()).toBe('102');
  expect(stateOf('hard', book.windows[0]!)).toBe('blocked');
});

test('a partial request holds what the fullest of its windows has, and is refused where nothing is left', () => {
  const book = bookOf([{ limit: '100', spent: '93' }, { limit: '40' }]);
  const [first, second] = decide(book, [
    ask({ amounts: { 0: '20', 1: '20' }, isPartial: true }),
    ask({ amounts: { 0: '20', 1: '20' }, hold: 1, isPartial: true }),
  ]);
  expect((first as { held: { toFixed(): string }[] }).held.map((each) => each.toFixed())).toEqual(['7', '7']);
  expect(second).toMatchObject({ outcome: 'refused', exceeded: [0] });
});

test('a hold may grow only within the room, and shrinks always', () => {
  const book = bookOf([{ limit: '100', spent: '60', held: '30' }], [heldIn({ 0: '30' })]);
  const grow = (held: string): BudgetStep => ({
    step: 'change',
    hold: 0,
    lifeMs: null,
    parts: [{ window: 0, held: decimal(held) }],
  });
  expect(outcomesOf(decide(book, [grow('41'), grow('40'), grow('5')]))).toEqual(['full', 'changed', 'changed']);
  expect(book.windows[0]!.held.toFixed()).toBe('5');
});

test.each([
  ['the same settlement again', 'used', 'repeated'],
  ['another settlement', 'more', 'closed'],
])('%s of a settled hold counts nothing', (_, digest, outcome) => {
  const book = bookOf([{ limit: '100', held: '30' }], [heldIn({ 0: '30' })]);
  decide(book, [settle(0, { 0: '12' })]);
  expect(outcomesOf(decide(book, [settle(0, { 0: '13' }, digest)]))).toEqual([outcome]);
  expect(book.windows[0]!.spent.toFixed()).toBe('12');
});
