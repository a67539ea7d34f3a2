import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditHours } from '../../../../src/areas/usage/build-shapes/repair-hours.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { inLongRun } from '../../../support/long-run.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Beyond 4, invariants: whatever is stored, amended and retracted at once, while rollups are rebuilt, the figures are
// the ones of a reference that only knows the events that are left.
let service: TestService;
let story: Story;
const metricIds: Record<string, string> = {};
const log = createLog({ level: 'silent', process: 'test' });
const NOW = '2024-03-20T00:00:00Z';
const METRICS = [
  { code: 'calls', aggregation_type: 'count_agg' },
  { code: 'storage', aggregation_type: 'sum_agg', field_name: 'v' },
  { code: 'peak', aggregation_type: 'max_agg', field_name: 'v' },
  { code: 'disk', aggregation_type: 'sum_agg', field_name: 'v', recurring: true },
  { code: 'seats', aggregation_type: 'latest_agg', field_name: 'v' },
  { code: 'users', aggregation_type: 'unique_count_agg', field_name: 'v' },
] as const;
type Code = (typeof METRICS)[number]['code'];

beforeAll(async () => {
  service = await startService();
  // As if every shape had many groups: sums of days are corrected too.
  await service.sql.unsafe(`
    create function keep_days() returns trigger language plpgsql as $$
    begin
      new.keeps_days := new.aggregation_type in ('count_agg', 'sum_agg', 'weighted_sum_agg');
      return new;
    end $$;
    create trigger keep_days before insert on usage_shapes for each row execute function keep_days();`);
  story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  for (const metric of METRICS) {
    const { body } = await story.client.post('/billable_metrics', {
      billable_metric: { name: metric.code, ...metric },
    });
    metricIds[metric.code] = body.billable_metric.svc_id;
  }
  await story.plan({ amount_cents: 0, charges: chargesBy(['team']) });
  await story.advanceTo(NOW);
});
afterAll(() => service.stop());

const chargesBy = (groups: string[]) =>
  METRICS.map(({ code }) => ({
    billable_metric_id: metricIds[code],
    code,
    charge_model: 'standard',
    properties: { amount: '1', pricing_group_keys: groups },
  }));

interface Live {
  key: string;
  code: Code;
  /** Minutes since the start of the period. */
  at: number;
  team: string;
  /** Text, which may be no number. */
  v: string;
}

const FROM = Date.parse('2024-03-05T00:00:00Z') / 1000;

/** Units by metric and team of the events that are left; usage shows none below zero. */
function reference(events: readonly Live[]): Record<string, string> {
  const figures: Record<string, string> = {};
  for (const { code } of METRICS) {
    // Events whose text is no number open no group of a metric that needs one.
    const counted = events.filter((event) => event.code === code && (COUNTS_TEXTS.has(code) || isNumber(event)));
    const teams = [...new Set(counted.map(({ team }) => team))];
    for (const team of teams) {
      const own = counted.filter((event) => event.team === team);
      figures[`${code} ${team}`] = Math.max(0, unitsOf(code, own)).toFixed(1);
    }
  }
  return figures;
}

const COUNTS_TEXTS: ReadonlySet<string> = new Set(['calls', 'users']);
const isNumber = ({ v }: Live) => /^-?\d+$/.test(v);

function unitsOf(code: Code, events: readonly Live[]): number {
  if (code === 'calls') return events.length;
  if (code === 'users') return new Set(events.map(({ v }) => v)).size;
  const numbers = events.map((event) => ({ ...event, n: Number(event.v) }));
  if (code === 'storage' || code === 'disk') return numbers.reduce((sum, { n }) => sum + n, 0);
  if (code === 'peak') return Math.max(...numbers.map(({ n }) => n));
  // Events of one instant never meet here: each has its own minute.
  return numbers.reduce((last, each) => (each.at > last.at ? each : last)).n;
}

async function figures(id: string): Promise<Record<string, string>> {
  const { body } = await story.client.get(`/customers/acme/current_usage?external_subscription_id=${id}`);
  return Object.fromEntries(
    body.customer_usage.charges_usage.flatMap(
      (each: { charge: { code: string }; grouped_usage: { grouped_by: { team: string | null }; units: string }[] }) =>
        // A charge without usage shows one group of nobody.
        each.grouped_usage.flatMap(({ grouped_by, units }) =>
          grouped_by.team === null ? [] : [[`${each.charge.code} ${grouped_by.team}`, units]],
        ),
    ),
  );
}

const propertiesOf = ({ team, v }: Pick<Live, 'team' | 'v'>) => ({ team, v });

let subscriptions = 0;
let keys = 0;
let minute = 0;

const code = fc.constantFrom(...METRICS.map((metric) => metric.code));
const team = fc.constantFrom('red', 'blue');
const v = fc.constantFrom('1', '2', '3', '7', '-4', 'x');
/** Where in a list the event is that an action is about. */
const pick = fc.nat(999);
const action = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('store' as const), code, team, v, day: fc.integer({ min: 0, max: 2 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('amend' as const), pick, team, v, day: fc.integer({ min: 0, max: 2 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('retract' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rebuild' as const), wide: fc.boolean() }) },
);

const RUNS = inLongRun(4, 2);

test('any interleaving of storing, amending, retracting and rebuilding gives the same usage as a naive count', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(action, { minLength: 8, maxLength: 24, size: 'max' }), { minLength: 4, maxLength: 7 }),
      async (chunks) => {
        subscriptions += 1;
        const id = `sub${subscriptions}`;
        await story.subscribe({ external_id: id, subscription_at: '2024-03-01T00:00:00Z' });
        let live: Live[] = [];
        for (const chunk of chunks) live = await atOnce(id, live, chunk);
        await until(async () => {
          const [row] = await service.sql<{ busy: boolean }[]>`
          select exists (select from usage_shapes where state = 'building') or exists (select
            from event_batches) as busy`;
          return row!.busy ? undefined : true;
        });
        expect(await figures(id)).toEqual(reference(live));
        expect((await auditHours(service.sql, log, 'all')).repaired).toBe(0);
      },
    ),
    { numRuns: RUNS, seed: 20_240_320, endOnFailure: true },
  );
});

type Action = typeof action extends fc.Arbitrary<infer Each> ? Each : never;

/** Does a chunk at once, each event in one action at most; answers the events that are left. */
async function atOnce(id: string, before: readonly Live[], chunk: readonly Action[]): Promise<Live[]> {
  const untouched = [...before];
  const after: Live[] = [];
  const calls: Promise<{ status: number; text: string }>[] = [];
  const take = (at: number): Live | undefined => untouched.splice(at % (untouched.length || 1), 1)[0];
  const placeOf = (day: number) => {
    minute += 1;
    return day * 24 * 60 + (minute % 120);
  };
  const correct = (correction: object) =>
    story.client.post('/events/corrections', {
      correction: { reason: 'any', external_subscription_id: id, ...correction },
    });
  for (const each of chunk) {
    if (each.kind === 'store') {
      keys += 1;
      const event: Live = { key: `k${keys}`, code: each.code, at: placeOf(each.day), team: each.team, v: each.v };
      after.push(event);
      const sent = { transaction_id: event.key, external_subscription_id: id, code: event.code };
      calls.push(
        story.client.post('/events', {
          event: { ...sent, timestamp: FROM + event.at * 60, properties: propertiesOf(event) },
        }),
      );
    } else if (each.kind === 'rebuild') {
      const charges = chargesBy(each.wide ? ['team', 'zone'] : ['team']).map(({ code: own, ...fields }) => ({
        own,
        fields,
      }));
      calls.push(
        ...charges.map(({ own, fields }) =>
          story.client.put(`/plans/plan/charges/${own}`, { charge: { properties: fields.properties } }),
        ),
      );
    } else {
      const event = take(each.pick);
      if (!event) continue;
      if (each.kind === 'retract') calls.push(correct({ kind: 'retract', transaction_id: event.key }));
      else {
        const amended: Live = { ...event, team: each.team, v: each.v, at: placeOf(each.day) };
        after.push(amended);
        const timestamp = FROM + amended.at * 60;
        calls.push(correct({ kind: 'amend', transaction_id: event.key, timestamp, properties: propertiesOf(amended) }));
      }
    }
  }
  for (const { status, text } of await Promise.all(calls)) if (status !== 200) throw new Error(text);
  return [...untouched, ...after];
}
