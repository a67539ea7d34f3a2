import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inLongRun } from '../support/long-run.ts';
import { startService, type TestService } from '../support/service.ts';
import { openStory, type Story } from '../support/story.ts';
import { exact, over, rounded } from './fraction.ts';
import { dayOf } from './usage.ts';

// Subscriptions that change their plan while what both plans cost changes before and after: each subscription fee is
// what the oracle says. A failure names the seed of its lives: SEED=… plays them again, LIVES=… plays more of them.
// Rules: plans.md#comparison-amount, plan-changes.md, billing-periods.md, subscription-fees.md.
const SEED = Number(process.env.SEED ?? 5);
const LIVES = Number(process.env.LIVES ?? inLongRun(4, 2));

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const INTERVALS = ['weekly', 'monthly', 'quarterly'] as const;
const A_YEAR = { weekly: 52, monthly: 12, quarterly: 4 };
const DAY = 86_400_000;
const FIRST = Date.UTC(2024, 1, 1) / DAY;
const END = Date.UTC(2024, 6, 20) / DAY;
/** Everything is asked for at noon, after the runs of the day in every zone of these worlds. */
const NOON = DAY / 2;
const GRACE_DAYS = 5;

interface Plan {
  interval: (typeof INTERVALS)[number];
  /** Cents. */
  amount: number;
}

interface Life {
  zone: string;
  hasGrace: boolean;
  plans: [Plan, Plan];
  /** Days by number, in UTC. */
  startsOn: number;
  switchesOn: number;
  repricings: { on: number; plan: 0 | 1; amount: number }[];
}

const plan: fc.Arbitrary<Plan> = fc
  .record({ interval: fc.constantFrom(...INTERVALS), yearly: fc.integer({ min: 0, max: 40 }) })
  .map(({ interval, yearly }) => ({ interval, amount: (yearly * 15_600) / A_YEAR[interval] }));

const life: fc.Arbitrary<Life> = fc
  .record({
    zone: fc.constantFrom('UTC', 'America/New_York', 'Asia/Tokyo', 'Africa/Cairo'),
    hasGrace: fc.boolean(),
    plans: fc.tuple(plan, plan),
    startsAfter: fc.integer({ min: 0, max: 12 }),
    switchesAfter: fc.integer({ min: 3, max: 40 }),
    repricings: fc.array(
      fc.record({
        after: fc.integer({ min: 1, max: 50 }),
        plan: fc.constantFrom<0 | 1>(0, 1),
        amount: fc.integer({ min: 0, max: 400_000 }),
      }),
      { maxLength: 4 },
    ),
  })
  .map(({ startsAfter, switchesAfter, repricings, ...rest }) => ({
    ...rest,
    startsOn: FIRST + startsAfter,
    switchesOn: FIRST + startsAfter + switchesAfter,
    // The day after the start at the earliest; one a day.
    repricings: [...new Map(repricings.map((each) => [each.after, each])).values()]
      .map(({ after, ...each }) => ({ ...each, on: FIRST + startsAfter + after }))
      .sort((a, b) => a.on - b.on),
  }));

/** The calendar period that holds a day: its first day and that of the next. */
function periodOf(day: number, interval: Plan['interval']): { first: number; next: number } {
  if (interval === 'weekly') {
    const first = day - ((day + 3) % 7);
    return { first, next: first + 7 };
  }
  const months = 12 / A_YEAR[interval];
  const date = new Date(day * DAY);
  const month = Math.floor(date.getUTCMonth() / months) * months;
  const start = (m: number) => Date.UTC(date.getUTCFullYear(), m, 1) / DAY;
  return { first: start(month), next: start(month + months) };
}

const share = (amount: number, days: number, of: number): number =>
  Number(rounded(over(exact(amount * days), exact(of)), 0).n);

/** Subscription fees of a life, as `plan amount`. */
function expected({ zone, hasGrace, plans, repricings, ...days }: Life): string[] {
  const localNoon = (day: number) => dayOf(day * DAY + NOON, zone);
  const [start, asked] = [localNoon(days.startsOn), localNoon(days.switchesOn)];
  /** What a plan costs when a fee of a local day is computed for the last time, or at the noon of a day. */
  const costs = (n: 0 | 1, isKnown: (on: number) => boolean) =>
    repricings.filter(({ plan: which, on }) => which === n && isKnown(on)).at(-1)?.amount ?? plans[n].amount;
  const fees: string[] = [];
  const bill = (n: 0 | 1, day: number, billed: number) => {
    const { first, next } = periodOf(day, plans[n].interval);
    // A period is billed before the noon of its last day's morrow, one that an upgrade cuts after the noon of the
    // upgrade.
    const isCut = switched?.isUpgrade === true && n === 0 && day + billed < next;
    const knownUntil = (isCut ? day + billed : next - 1) + (hasGrace ? GRACE_DAYS - (isCut ? 1 : 0) : 0);
    const amount = costs(n, (on) => localNoon(on) <= knownUntil);
    const fee = share(amount, billed, next - first);
    if (fee > 0) fees.push(`${n} ${fee}`);
  };
  let switched: { on: number; isUpgrade: boolean } | null = null;

  const yearly = (n: 0 | 1, on: number) => costs(n, (each) => each <= on) * A_YEAR[plans[n].interval];
  if (yearly(1, days.switchesOn) >= yearly(0, days.switchesOn)) switched = { on: asked, isUpgrade: true };
  else {
    const due = periodOf(asked, plans[0].interval).next;
    switched = { on: due, isUpgrade: false };
    for (const { on, plan: which } of repricings) {
      if (on <= days.switchesOn || localNoon(on) >= due) continue;
      const [former, later] = [0, 1].map((n) => costs(n as 0 | 1, (each) => each <= on)) as [number, number];
      if (which === 0 && former < later) switched = null;
      if (which === 1 && yearly(1, on) >= yearly(0, on)) switched = { on: localNoon(on), isUpgrade: true };
      if (switched?.on !== due) break;
    }
  }
  const cut = switched?.on ?? END + 400;
  for (const [n, from, until] of [
    [0, start, cut],
    [1, cut, END + 400],
  ] as const) {
    let day: number = from;
    while (day < until) {
      const { next } = periodOf(day, plans[n].interval);
      const end = Math.min(next, until);
      if (end > END) break;
      if (end > day) bill(n, day, end - day);
      day = end;
    }
  }
  return fees.sort();
}

async function play(story: Story, lives: readonly Life[]): Promise<void> {
  const acts: { on: number; act: () => Promise<unknown> }[] = [];
  for (const [n, { zone, hasGrace, plans, startsOn, switchesOn, repricings }] of lives.entries()) {
    const id = `life-${n}`;
    const invoice_grace_period = hasGrace ? GRACE_DAYS : 0;
    await story.customer({ external_id: id, timezone: zone, billing_configuration: { invoice_grace_period } });
    for (const [which, { interval, amount }] of plans.entries())
      await story.plan({ code: `${n}-${which}`, interval, amount_cents: amount });
    const subscribe = (which: 0 | 1) => async () => {
      const fields = { external_customer_id: id, external_id: id, plan_code: `${n}-${which}` };
      expect((await story.subscribe(fields)).status).toBe(200);
    };
    acts.push({ on: startsOn, act: subscribe(0) });
    acts.push(
      ...repricings.map(({ on, plan: which, amount }) => ({ on, act: () => reprice(story, `${n}-${which}`, amount) })),
    );
    acts.push({ on: switchesOn, act: subscribe(1) });
  }
  for (const on of [...new Set(acts.map((each) => each.on))].sort((a, b) => a - b)) {
    await story.advanceTo(new Date(on * DAY + NOON).toISOString());
    for (const { act } of acts.filter((each) => each.on === on)) await act();
  }
  await story.advanceTo(new Date(END * DAY + NOON).toISOString());
}

async function reprice({ client }: Story, code: string, amount_cents: number): Promise<void> {
  const { status, text } = await client.put(`/plans/${code}`, { plan: { amount_cents } });
  expect(status, text).toBe(200);
}

test(`plan changes are billed as the kind of change they were when made (seed ${SEED})`, {
  timeout: 60_000 + LIVES * 20_000,
}, async () => {
  const lives = fc.sample(life, { seed: SEED, numRuns: LIVES });
  const story = await openStory(service, new Date(FIRST * DAY).toISOString());
  await play(story, lives);
  for (const [n, each] of lives.entries()) {
    const { body } = await story.client.get(
      `/fees?external_subscription_id=life-${n}&fee_type=subscription&per_page=1000`,
    );
    const billed = body.fees
      .filter(({ amount_cents }: { amount_cents: number }) => amount_cents > 0)
      .map(({ item, amount_cents }: { item: { code: string }; amount_cents: number }) => [item.code, amount_cents])
      .map(([code, cents]: [string, number]) => `${code.split('-')[1]} ${cents}`);
    expect(billed.sort(), `life ${n}: ${JSON.stringify(each)}`).toEqual(expected(each));
  }
});
