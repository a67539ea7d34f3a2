import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type CalledStep,
  decideBudgets,
  sortedWindows,
} from '../../../../src/areas/usage/budget-windows/decide-call.ts';
import type { PlacedWindow } from '../../../../src/areas/usage/budget-windows/place-usage.ts';
import type { Budget } from '../../../../src/engine/budgets/budget.ts';
import { type BudgetBook, type BudgetStep, decide } from '../../../../src/engine/budgets/decide.ts';
import { type Decimal, decimal, ZERO } from '../../../../src/engine/money/decimal.ts';
import type { Sql } from '../../../../src/platform/db/connect.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { inLongRun } from '../../../support/long-run.ts';
import { startService, type TestService } from '../../../support/service.ts';

const WINDOWS = 3;
const HOLDS = 4;

let service: TestService;
let sql: Sql;

beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
  sql = service.sql;
});
afterAll(() => service.stop());

const figure = fc.integer({ min: 0, max: 400 }).map((tenths) => decimal(tenths).div(10));
const place = fc.integer({ min: 0, max: WINDOWS - 1 });
const hold = fc.integer({ min: 0, max: HOLDS - 1 });
const digest = fc.constantFrom('aa', 'bb');
const parts = <Value>(value: fc.Arbitrary<Value>) =>
  fc.uniqueArray(fc.record({ window: place, value }), {
    minLength: 1,
    maxLength: WINDOWS,
    selector: ({ window }) => window,
  });

const step: fc.Arbitrary<BudgetStep> = fc.oneof(
  fc.record({
    step: fc.constant('hold' as const),
    hold,
    digest,
    lifeMs: fc.constantFrom(1000, 600_000),
    parts: parts(figure).map((all) =>
      all.map(({ window, value }) => ({ window, measure: 'cost' as const, requested: value })),
    ),
    isPartial: fc.boolean(),
    reasons: fc.constant([] as string[]),
  }),
  fc.record({
    step: fc.constant('settle' as const),
    hold,
    digest,
    counts: parts(fc.option(figure)).map((all) => all.map(({ window, value }) => ({ window, amount: value }))),
  }),
  fc.record({ step: fc.constant('release' as const), hold }),
  fc.record({
    step: fc.constant('change' as const),
    hold,
    lifeMs: fc.constantFrom(null, 600_000),
    parts: parts(figure).map((all) => all.map(({ window, value }) => ({ window, held: value }))),
  }),
);
/** Steps of one call, and how many seconds pass before it. */
const call = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 6 }), passesMs: fc.constantFrom(0, 2000) });

test('the database function decides as the pure rules do, whatever is settled, held, changed and released', async () => {
  const terms = fc.array(fc.record({ limit: figure.map((each) => each.plus(1)), isHard: fc.boolean() }), {
    minLength: WINDOWS,
    maxLength: WINDOWS,
  });
  await fc.assert(
    fc.asyncProperty(terms, fc.array(call, { minLength: 1, maxLength: 4 }), async (limits, calls) => {
      const world = await openWorld(limits);
      for (const { steps, passesMs } of calls) {
        world.book.nowMs += passesMs;
        const runnable = steps.filter((each, index) => !settlesNewHold(world.book, steps.slice(0, index), each));
        const called = runnable.map((each) => calledStep(world, each));
        const expected = decide(world.book, runnable).map(({ outcome }) => outcome);
        await sql`update test_clocks set frozen_time = ${instant(world.book.nowMs)}
          where organization_id = ${world.organizationId}`;
        const decided = await decideBudgets(
          { db: sql, organizationId: world.organizationId },
          { version: world.version, windows: world.windows, steps: called },
        );
        expect(decided!.outcomes.map(({ o }) => o)).toEqual(expected);
        expect(
          decided!.windows.map(([, , spent, held, , no]) => [decimal(spent).toFixed(), decimal(held).toFixed(), no]),
        ).toEqual(
          world.book.windows.map(({ spent, held, decisionNo }) => [spent.toFixed(), held.toFixed(), decisionNo]),
        );
      }
      expect(await ledgerOf(world)).toEqual(
        world.book.windows.map(({ spent, held }) => [spent.toFixed(), held.toFixed()]),
      );
    }),
    { numRuns: inLongRun(200, 40) },
  );
});

test('a decision among very many of one call takes no longer than one among few', async () => {
  const world = await openWorld([{ limit: decimal(1), isHard: true }]);
  const [window] = world.windows;
  const take = async (count: number): Promise<number> => {
    const steps = Array.from({ length: count }, (): CalledStep => {
      const id = newId();
      const parts: [string, string, string][] = [[window!.id, '2', 'cost']];
      return { s: 'hold', hold: id, id, digest: 'aa', externalSubscriptionId: 'ada-1', seconds: 60, parts, ...ASKED };
    });
    const started = performance.now();
    await decideBudgets(
      { db: sql, organizationId: world.organizationId },
      { version: world.version, windows: world.windows, steps },
    );
    return performance.now() - started;
  };
  const fewMs: number[] = [];
  const manyMs: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    fewMs.push(await take(FEW));
    manyMs.push(await take(FEW * TIMES));
  }
  // A list of outcomes that was written anew for each made it 50 times as much.
  expect(Math.min(...manyMs) / Math.min(...fewMs)).toBeLessThan(TIMES * 3);
});

const FEW = 200;
const TIMES = 8;
const TURNS = 4;
const ASKED = { isPartial: false, reasons: [] };

const instant = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms);

/** Whether a step settles a hold that one before it in the same call may make, which comes in a call of its own. */
const settlesNewHold = (book: BudgetBook, before: readonly BudgetStep[], step: BudgetStep): boolean =>
  step.step === 'settle' &&
  book.holds[step.hold] === undefined &&
  before.some((each) => each.step === 'hold' && each.hold === step.hold);

/** An organization with a budget for each window, and the same windows as the pure rules have them. */
async function openWorld(limits: readonly { limit: Decimal; isHard: boolean }[]) {
  const { organization } = await service.org({ sandbox: true });
  const organizationId = organization.organization_id;
  const nowMs = Date.parse('2030-01-01T00:00:00Z');
  await sql`
    insert into test_clocks (organization_id, frozen_time, created_at)
    values (${organizationId}, ${instant(nowMs)}, ${instant(nowMs)})`;
  const windows = await Promise.all(limits.map((each) => windowIn(organizationId, each)));
  const sorted = sortedWindows(windows) as PlacedWindow[];
  const ofWindow = (window: PlacedWindow) => limits[windows.indexOf(window)]!;
  const book: BudgetBook = {
    windows: sorted.map((window) => ({ ...ofWindow(window), spent: ZERO, held: ZERO, decisionNo: 0 })),
    holds: Array.from({ length: HOLDS }, () => undefined),
    nowMs,
  };
  const [row] = await sql`select shapes_version from organizations where id = ${organizationId}`;
  return {
    organizationId,
    version: row!.shapes_version as number,
    windows: sorted,
    book,
    ids: new Map<number, string>(),
  };
}
type World = Awaited<ReturnType<typeof openWorld>>;

async function windowIn(
  organizationId: string,
  { limit, isHard }: { limit: Decimal; isHard: boolean },
): Promise<PlacedWindow> {
  const id = newId();
  await sql`
    insert into budgets (id, organization_id, code, name, scope, measure, currency, most, period, timezone, mode,
      alert_percents, on_outage, unknown_price, created_at, updated_at)
    values (${id}, ${organizationId}, ${id}, 'b', 'organization', 'cost', 'USD', ${limit.toFixed()}, 'lifetime', 'UTC',
      ${isHard ? 'hard' : 'soft'}, '{50}', 'closed', 'deny', now(), now())`;
  const from = Temporal.Instant.from('2030-01-01T00:00:00Z');
  const budget = { id, mode: isHard ? 'hard' : 'soft', alert_percents: [50], is_full: false } as unknown as Budget;
  return { id: newId(), budget, groupKey: '00', group: [], limit, from, to: null };
}

function calledStep(world: World, step: BudgetStep): CalledStep {
  const key = `h${step.hold}`;
  const idOf = (position: number) => world.windows[position]!.id;
  if (step.step === 'release') return { s: 'release', hold: key };
  if (step.step === 'change')
    return {
      s: 'change',
      hold: key,
      seconds: step.lifeMs === null ? null : step.lifeMs / 1000,
      parts: (step.parts ?? []).map(({ window, held }) => [idOf(window), held.toFixed()]),
    };
  if (step.step === 'settle')
    return {
      s: 'settle',
      hold: key,
      id: world.book.holds[step.hold] ? world.ids.get(step.hold)! : null,
      digest: step.digest,
      entries: step.counts.map(({ window, amount }) => [idOf(window), amount?.toFixed() ?? null, 'settlement']),
      transactionId: null,
      events: 0,
    };
  // The first of several in a call makes the hold, unless it is refused: all have one id.
  const id = world.ids.get(step.hold) ?? newId();
  world.ids.set(step.hold, id);
  return {
    s: 'hold',
    hold: key,
    id,
    digest: step.digest,
    externalSubscriptionId: 'ada-1',
    seconds: step.lifeMs / 1000,
    parts: step.parts.map(({ window, requested, measure }) => [idOf(window), requested.toFixed(), measure]),
    isPartial: step.isPartial,
    reasons: [],
  };
}

/** Sums of the ledger and of open holds by window: what `spent` and `held` stand for (P7). */
async function ledgerOf({ organizationId, windows, book }: World): Promise<string[][]> {
  const rows = await sql<{ id: string; spent: Decimal; held: Decimal }[]>`
    select w.id, coalesce((select sum(amount) from budget_entries e where e.window_id = w.id), 0) as spent,
      coalesce((select sum(held) from budget_hold_parts p where p.window_id = w.id and p.is_open), 0) as held
    from budget_windows w where w.organization_id = ${organizationId}`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  return windows.map(({ id }, index) => {
    const row = byId.get(id);
    // A window that no call has named yet is not there.
    if (!row) return [book.windows[index]!.spent.toFixed(), book.windows[index]!.held.toFixed()];
    return [row.spent.toFixed(), row.held.toFixed()];
  });
}
