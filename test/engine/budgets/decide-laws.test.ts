import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BudgetBook, type BudgetStep, decide } from '../../../src/engine/budgets/decide.ts';
import { decimal, ZERO } from '../../../src/engine/money/decimal.ts';
import { inLongRun } from '../../support/long-run.ts';
import { bookOf } from './book.ts';

const WINDOWS = 3;
const HOLDS = 5;

const figure = fc.integer({ min: 0, max: 400 }).map((tenths) => decimal(tenths).div(10));
const hold = fc.integer({ min: 0, max: HOLDS - 1 });
const asked = fc.uniqueArray(fc.record({ window: fc.integer({ min: 0, max: WINDOWS - 1 }), requested: figure }), {
  minLength: 1,
  maxLength: WINDOWS,
  selector: ({ window }) => window,
});
const move = fc.oneof(
  fc.record({ do: fc.constant('ask' as const), hold, parts: asked, isPartial: fc.boolean() }),
  // Of what is held so many tenths are used.
  fc.record({ do: fc.constant('settle' as const), hold, tenths: fc.integer({ min: 0, max: 10 }) }),
  fc.record({ do: fc.constant('release' as const), hold }),
  fc.record({ do: fc.constant('grow' as const), hold, held: figure }),
  fc.record({ do: fc.constant('wait' as const) }),
);
type Move = typeof move extends fc.Arbitrary<infer Value> ? Value : never;

const LIFE_MS = 60_000;

/** Undefined: nothing can be done, since a hold that is settled has ended. */
function stepOf(book: BudgetBook, made: Move, number: number): BudgetStep | undefined {
  if (made.do === 'wait') return undefined;
  if (made.do === 'release') return { step: 'release', hold: made.hold };
  if (made.do === 'ask')
    return {
      step: 'hold',
      hold: made.hold,
      digest: `asked ${number}`,
      lifeMs: LIFE_MS,
      parts: made.parts.map((part) => ({ ...part, measure: 'cost' as const })),
      isPartial: made.isPartial,
      reasons: [],
    };
  const found = book.holds[made.hold];
  if (found?.status !== 'open' || found.expiresAtMs <= book.nowMs) return undefined;
  if (made.do === 'grow')
    return {
      step: 'change',
      hold: made.hold,
      lifeMs: null,
      parts: found.parts.map(({ window }) => ({ window, held: made.held })),
    };
  const counts = found.parts.map(({ window, held }) => ({ window, amount: held.times(made.tenths).div(10) }));
  return { step: 'settle', hold: made.hold, digest: `used ${number}`, counts };
}

test('settlements within their holds never pass a limit, windows hold what their parts do, and refusals are true (P7, P8)', () => {
  fc.assert(
    fc.property(
      fc.array(figure, { minLength: WINDOWS, maxLength: WINDOWS }),
      fc.array(move, { minLength: 1, maxLength: 40 }),
      (limits, moves) => {
        const book = bookOf(
          limits.map((limit) => ({ limit: limit.toFixed() })),
          Array.from({ length: HOLDS }, () => undefined),
        );
        const settled = limits.map(() => ZERO);
        for (const [number, made] of moves.entries()) {
          if (made.do === 'wait') book.nowMs += LIFE_MS / 2;
          const step = stepOf(book, made, number);
          const [outcome] = decide(book, step ? [step] : []);
          if (step?.step === 'settle' && outcome?.outcome === 'settled')
            for (const { window, amount } of step.counts) settled[window] = settled[window]!.plus(amount!);
          if (step?.step === 'hold' && outcome?.outcome === 'refused' && outcome.exceeded.length > 0)
            expect(step.parts.some(({ window, requested }) => isBeyond(book, window, requested))).toBe(true);
          for (const [place, window] of book.windows.entries()) {
            const parts = book.holds.flatMap((each) => each?.parts ?? []).filter((part) => part.window === place);
            const held = parts.reduce((sum, part) => (part.isOpen ? sum.plus(part.held) : sum), ZERO);
            expect([window.held.toFixed(), window.spent.toFixed()]).toEqual([
              held.toFixed(),
              settled[place]!.toFixed(),
            ]);
            expect(window.spent.plus(window.held).lte(window.limit)).toBe(true);
          }
        }
      },
    ),
    { numRuns: inLongRun(5000, 500) },
  );
});

/** Whether a request is above what is left; of a partial one nothing is. */
const isBeyond = (book: BudgetBook, place: number, requested: ReturnType<typeof decimal>): boolean => {
  const { limit, spent, held } = book.windows[place]!;
  return spent.plus(held).plus(requested).gt(limit) || spent.plus(held).gte(limit);
};
