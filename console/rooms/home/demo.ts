import { ApiError, read, write } from '../../frame/api.ts';
import { organization } from '../../frame/session.ts';
import { moved } from '../../parts/moved.ts';

/** What is being made, and how much of it is there, 0 to 1. */
export type Tell = (step: DemoStep, part: number) => void;
export type DemoStep = 'catalog' | 'customers' | 'usage' | 'months' | 'payments';

const CUSTOMERS = [
  ['ada', 'Ada Analytics', 'US'],
  ['birch', 'Birch & Partners', 'GB'],
  ['cobalt', 'Cobalt Systems GmbH', 'DE'],
  ['delta', 'Delta Freight', 'NL'],
  ['ember', 'Ember Studio', 'FR'],
  ['fjord', 'Fjord Data AS', 'NO'],
  ['grove', 'Grove Health', 'CA'],
  ['harbor', 'Harbor Robotics', 'US'],
  ['iris', 'Iris Vision', 'SE'],
  ['juniper', 'Juniper Bikes', 'DK'],
  ['kite', 'Kite Media', 'IE'],
  ['lumen', 'Lumen Energy', 'AU'],
] as const;

const METRICS = [
  { code: 'api_calls', name: 'API calls', aggregation_type: 'sum_agg', field_name: 'calls' },
  { code: 'storage', name: 'Storage in GB', aggregation_type: 'max_agg', field_name: 'gigabytes' },
] as const;

const MONTHS = 2;
const DAYS_OF_USAGE = [2, 5, 9, 13, 16, 20, 24, 27] as const;
const EVENTS_AT_ONCE = 100;
/** Of the first month's invoices these stay open, so that something is overdue. */
const OPEN_INVOICES = 2;
const MOST_INVOICES = 100;
/** Those of the first month are overdue on the second day after the second one, those of the second are not. */
const DAYS_TO_PAY = 30;
const POLL_MS = 500;

interface Event {
  transaction_id: string;
  external_subscription_id: string;
  code: string;
  timestamp: number;
  properties: Record<string, number>;
}

/**
 * Fills an empty sandbox with twelve customers and two closed months: prices, usage, invoices of which most are paid.
 * All of it by the API, as a program would; the clock of the sandbox moves two months.
 *
 * @throws ApiError where something is refused; what was made until then stays
 */
export async function makeDemo(tell: Tell): Promise<void> {
  const beganAt = await startOfTime();
  tell('catalog', 0);
  await sell();
  for (const [index, customer] of CUSTOMERS.entries()) {
    tell('customers', index / CUSTOMERS.length);
    await subscribe(customer);
  }
  const events = usageSince(beganAt);
  for (let first = 0; first < events.length; first += EVENTS_AT_ONCE) {
    tell('usage', first / events.length);
    await write('POST', '/events/batch', { events: events.slice(first, first + EVENTS_AT_ONCE) });
  }
  await advance(moved(moved(beganAt, { months: MONTHS }), { days: 2 }), (part) => tell('months', part));
  await collect((part) => tell('payments', part));
}

/** The sandbox's time; one that lives in real time gets a clock at the beginning of the month before the last. */
async function startOfTime(): Promise<string> {
  if (organization.peek()?.has_test_clock !== true) {
    const now = new Date();
    const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS, 1)).toISOString();
    try {
      await write('POST', '/test_clock', { test_clock: { frozen_time: start } });
      return start;
    } catch (error) {
      // The session was opened before the clock was made.
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return (await read<{ test_clock: { frozen_time: string } }>('/test_clock')).test_clock.frozen_time;
}

async function sell(): Promise<void> {
  const ids: string[] = [];
  for (const metric of METRICS) {
    const { billable_metric } = await write<{ billable_metric: { svc_id: string } }>('POST', '/billable_metrics', {
      billable_metric: metric,
    });
    ids.push(billable_metric.svc_id);
  }
  await write('POST', '/plans', {
    plan: {
      name: 'Team',
      code: 'team',
      interval: 'monthly',
      amount_cents: 4900,
      amount_currency: 'USD',
      pay_in_advance: false,
      charges: [
        {
          billable_metric_id: ids[0],
          charge_model: 'graduated',
          properties: {
            graduated_ranges: [
              { from_value: 0, to_value: 1000, per_unit_amount: '0', flat_amount: '0' },
              { from_value: 1001, to_value: 10_000, per_unit_amount: '0.02', flat_amount: '0' },
              { from_value: 10_001, to_value: null, per_unit_amount: '0.01', flat_amount: '0' },
            ],
          },
        },
        { billable_metric_id: ids[1], charge_model: 'standard', properties: { amount: '0.25' } },
      ],
    },
  });
}

async function subscribe([external_id, name, country]: (typeof CUSTOMERS)[number]): Promise<void> {
  await write('POST', '/customers', {
    customer: {
      external_id,
      name,
      country,
      currency: 'USD',
      email: `billing@${external_id}.example`,
      net_payment_term: DAYS_TO_PAY,
    },
  });
  await write('POST', '/subscriptions', {
    subscription: { external_customer_id: external_id, external_id: `${external_id}-1`, plan_code: 'team' },
  });
}

/** Events of both months, the same in every demo. */
function usageSince(beganAt: string): Event[] {
  return CUSTOMERS.flatMap(([id], customer) =>
    Array.from({ length: MONTHS }, (_, month) =>
      DAYS_OF_USAGE.flatMap((day, index) => {
        const at = new Date(moved(moved(beganAt, { months: month }), { days: day })).getTime() / 1000;
        const event = (code: string, properties: Record<string, number>): Event => ({
          transaction_id: `demo-${id}-${code}-${month}-${day}`,
          external_subscription_id: `${id}-1`,
          code,
          timestamp: Math.floor(at),
          properties,
        });
        const calls = 150 + ((customer * 37 + index * 91 + month * 53) % 17) * (40 + customer * 25);
        return [
          event('api_calls', { calls }),
          ...(index === DAYS_OF_USAGE.length - 1
            ? [event('storage', { gigabytes: 20 + customer * 15 + month * 5 })]
            : []),
        ];
      }),
    ).flat(),
  );
}

async function advance(frozenTime: string, tell: (part: number) => void): Promise<void> {
  tell(0);
  await write('POST', '/test_clock/advance', { test_clock: { frozen_time: frozenTime } });
  for (;;) {
    const { test_clock: clock } = await read<{
      test_clock: { status: string; percent?: number | null; progress?: { percent: number } | null };
    }>('/test_clock');
    if (clock.status !== 'advancing') return;
    tell((clock.progress?.percent ?? clock.percent ?? 0) / 100);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Records payments of the oldest invoices, but for a few. */
async function collect(tell: (part: number) => void): Promise<void> {
  const { invoices } = await read<{
    invoices: {
      svc_id: string;
      status: string;
      issuing_date: string;
      total_due_amount_cents: number;
      number: string;
    }[];
  }>(`/invoices?per_page=${MOST_INVOICES}&status=finalized`);
  const oldest = invoices
    .filter(({ total_due_amount_cents: due }) => due > 0)
    .sort((one, other) => one.issuing_date.localeCompare(other.issuing_date) || one.number.localeCompare(other.number))
    .slice(OPEN_INVOICES, CUSTOMERS.length);
  for (const [index, { svc_id, total_due_amount_cents, number }] of oldest.entries()) {
    tell(index / oldest.length);
    await write('POST', '/payments', {
      payment: { invoice_id: svc_id, amount_cents: total_due_amount_cents, reference: `Transfer for ${number}` },
    });
  }
}
