import { assert } from './engine/assert.ts';
import type { Tick } from './platform/clock/ticks.ts';
import type { Config } from './platform/config.ts';

/** B: the organization's clock; ticks leave out organizations with a test clock. R: real time, the same for all. */
export type ClockOfJob = 'B' | 'R';

/**
 * What a starting process does about an unclaimed tick: `latest` runs the last missed one at once, whose selection
 * ("due at or before") catches up all of them; `skip` leaves it to the next tick.
 */
export type CatchUp = 'latest' | 'skip';

export interface ScheduleRow {
  job: string;
  tick: Tick;
  clock: ClockOfJob;
  catchUp: CatchUp;
  /** Why catching up in that way is enough, in the words of periodic-jobs.md. */
  afterMissedTicks: string;
  /**
   * Whether it treats marks and flags set by other work: an advance that ends before its tick runs it at the target
   * (test-clocks.md#advancing).
   */
  worksOffMarks?: true;
}

/** A row of the table; its interval may be a setting. */
type TableRow = Omit<ScheduleRow, 'tick'> & { tick: Tick | { everySecondsOf: IntervalSetting } };
type IntervalSetting = 'USAGE_ACTIVITY_SECONDS' | 'LIFETIME_USAGE_SECONDS' | 'WALLET_REFRESH_SECONDS';

/**
 * The table of periodic jobs (periodic-jobs.md), in the order in which jobs of one instant run under a test clock.
 * Implementations are in src/periodic-jobs.ts; a row without one, or one without a row, stops the start of the
 * scheduler.
 */
const rows = [
  { job: 'activate', tick: { everySeconds: 300 }, clock: 'B', catchUp: 'latest', afterMissedTicks: 'by selection' },
  {
    job: 'terminate-ended',
    tick: { minuteOfHour: 5 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'eu-tax-rates',
    tick: { minuteOfHour: 5 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'bill',
    tick: { minuteOfHour: 10 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'each missed billing day in order, with the timestamp of the first tick of that local day',
  },
  {
    job: 'validate-events',
    tick: { minuteOfHour: 5 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'up to 24 hours back',
  },
  { job: 'expire-gates', tick: { minuteOfHour: 20 }, clock: 'B', catchUp: 'latest', afterMissedTicks: 'by selection' },
  { job: 'finalize', tick: { minuteOfHour: 20 }, clock: 'B', catchUp: 'latest', afterMissedTicks: 'by selection' },
  { job: 'overdue', tick: { minuteOfHour: 25 }, clock: 'B', catchUp: 'latest', afterMissedTicks: 'by selection' },
  {
    job: 'stuck-invoices',
    tick: { minuteOfHour: 30 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'expire-coupons',
    tick: { minuteOfHour: 30 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  { job: 'trial-end', tick: { minuteOfHour: 35 }, clock: 'B', catchUp: 'latest', afterMissedTicks: 'by selection' },
  {
    job: 'late-events',
    tick: { minuteOfHour: 35 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection: how far events were looked at is kept',
  },
  {
    job: 'expire-order-forms',
    tick: { minuteOfHour: 40 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'expire-wallets',
    tick: { minuteOfHour: 45 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  { job: 'dunning', tick: { minuteOfHour: 45 }, clock: 'B', catchUp: 'latest', afterMissedTicks: 'by state' },
  {
    job: 'execute-orders',
    tick: { minuteOfHour: 45 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'termination-alerts',
    tick: { minuteOfHour: 50 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'a later tick of the day makes it; a day missed altogether is not made up',
  },
  { job: 'trial-mails', tick: { minuteOfHour: 50 }, clock: 'B', catchUp: 'latest', afterMissedTicks: 'by selection' },
  {
    job: 'expire-top-up-rules',
    tick: { minuteOfHour: 50 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'interval-top-ups',
    tick: { minuteOfHour: 55 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'one top-up, for the latest missed date',
  },
  {
    job: 'refresh-drafts',
    tick: { everySeconds: 300 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'flags stay',
    worksOffMarks: true,
  },
  {
    job: 'usage-activity',
    tick: { everySecondsOf: 'USAGE_ACTIVITY_SECONDS' },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'marks stay',
    worksOffMarks: true,
  },
  {
    job: 'lifetime-usage',
    tick: { everySecondsOf: 'LIFETIME_USAGE_SECONDS' },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'flags stay',
    worksOffMarks: true,
  },
  {
    job: 'wallet-ongoing',
    tick: { everySecondsOf: 'WALLET_REFRESH_SECONDS' },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'flags stay',
    worksOffMarks: true,
  },
  {
    job: 'daily-usage',
    tick: { minuteOfHour: 15 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks:
      'a later tick of the local day makes it; a day missed altogether gets none, the next difference covers it',
  },
  {
    job: 'budget-sweep',
    tick: { everySeconds: 10 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  { job: 'expire-holds', tick: { everySeconds: 60 }, clock: 'B', catchUp: 'latest', afterMissedTicks: 'by selection' },
  {
    job: 'retry-taxes',
    tick: { everySeconds: 300 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'retry-failed-invoices',
    tick: { everySeconds: 900 },
    clock: 'B',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  { job: 'row-sweeper', tick: { everySeconds: 60 }, clock: 'R', catchUp: 'latest', afterMissedTicks: 'rows stay' },
  { job: 'ledger-daily', tick: { everySeconds: 60 }, clock: 'R', catchUp: 'latest', afterMissedTicks: 'rows stay' },
  { job: 'webhook-sweeper', tick: { everySeconds: 60 }, clock: 'R', catchUp: 'latest', afterMissedTicks: 'rows stay' },
  {
    job: 'endpoint-health',
    tick: { everySeconds: 300 },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'retry-provider-events',
    tick: { everySeconds: 900 },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'heal-prices',
    tick: { everySeconds: 300 },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'ai-days',
    tick: { everySeconds: 60 },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'check-providers',
    tick: { everySeconds: 900 },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'resume-reconciliations',
    tick: { everySeconds: 900 },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'release-authorizations',
    tick: { everySeconds: 60 },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  { job: 'key-usage', tick: { minuteOfHour: 15 }, clock: 'R', catchUp: 'skip', afterMissedTicks: 'may be lost' },
  {
    job: 'clean-idempotency',
    tick: { minuteOfHour: 40 },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'clean-sessions',
    tick: { minuteOfHour: 42 },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'volume-hours',
    tick: { minuteOfHour: 12 },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'the tick of midnight sums two days anew',
  },
  {
    job: 'clean-webhooks',
    tick: { timeOfDay: '01:00' },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'clean-provider-events',
    tick: { timeOfDay: '01:10' },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'clean-dead-letters',
    tick: { timeOfDay: '01:15' },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'clean-secrets',
    tick: { timeOfDay: '01:20' },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'housekeeping',
    tick: { timeOfDay: '02:00' },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  { job: 'retention', tick: { timeOfDay: '02:30' }, clock: 'R', catchUp: 'latest', afterMissedTicks: 'by selection' },
  {
    job: 'price-book-age',
    tick: { timeOfDay: '02:45' },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'next day',
  },
  { job: 'audit-recent', tick: { minuteOfHour: 55 }, clock: 'R', catchUp: 'latest', afterMissedTicks: 'by selection' },
  {
    job: 'rollup-audit',
    tick: { timeOfDay: '03:00' },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'archive-roots',
    tick: { timeOfDay: '03:50' },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'reconcile-providers',
    tick: { timeOfDay: '04:10' },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  {
    job: 'send-e-documents',
    tick: { everySeconds: 60 },
    clock: 'R',
    catchUp: 'latest',
    afterMissedTicks: 'by selection',
  },
  { job: 'audit-full', tick: { timeOfDay: '03:30' }, clock: 'R', catchUp: 'skip', afterMissedTicks: 'next day' },
] as const satisfies readonly TableRow[];

/** The table with the intervals that the settings give. */
export const schedule = (config: Config): ScheduleRow[] =>
  rows.map((row: TableRow) => ({ ...row, tick: tickOf(row, config) }));

const tickOf = ({ tick }: TableRow, config: Config): Tick =>
  'everySecondsOf' in tick ? { everySeconds: config[tick.everySecondsOf] } : tick;

type HourlyJob = Extract<(typeof rows)[number], { tick: { minuteOfHour: number } }>['job'];

/** Minute of the hour at which a job ticks; a caught-up or previewed run bills with the instant of its tick. */
export function minuteOf(job: HourlyJob): number {
  const { tick }: TableRow = rows.find((row) => row.job === job)!;
  assert('minuteOfHour' in tick, `${job} ticks every hour`);
  return tick.minuteOfHour;
}
